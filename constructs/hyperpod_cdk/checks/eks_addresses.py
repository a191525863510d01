"""The control plane's subnets have addresses for its network interfaces."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error
from hyperpod_cdk.checks.inputs import Deployment

_FEWEST, _RECOMMENDED = 6, 16


def eks_addresses(deployment: Deployment) -> Iterator[Finding]:
    """Find EKS subnets with fewer addresses than EKS demands.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """
    for subnet in deployment.eks_subnets:
        if subnet.free_addresses < _FEWEST:
            yield error(
                subnet.path,
                subnet.cidr,
                f"has {subnet.free_addresses} free addresses: EKS needs {_FEWEST} for its network "
                f"interfaces and recommends {_RECOMMENDED}",
            )
