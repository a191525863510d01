"""No control plane is made of a Kubernetes version that EKS supports no more.

https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
"""

from datetime import date

from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from tests.support.laws import Deployment


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each control plane that EKS refuses to make today."""
    today = date.today()
    supported = [version for version, end in END_OF_EXTENDED_SUPPORT.items() if today < end]
    return [
        each.violation(
            f"EKS makes no cluster of {each.properties.get('Version')} any more",
            allowed=f"one of {', '.join(supported)}",
        )
        for each in deployment.of_type("AWS::EKS::Cluster")
        if each.properties.get("Version") not in supported
    ]
