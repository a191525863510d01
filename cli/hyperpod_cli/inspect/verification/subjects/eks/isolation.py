"""What keeps the namespaces of editors apart, and whether the VPC CNI enforces it."""

import json

from kubernetes.client import AdmissionregistrationV1Api, AppsV1Api, NetworkingV1Api

from hyperpod_cdk.eks.section import ISOLATION_RELEASE, NETWORK_POLICY, named_namespaces
from hyperpod_cli.aws.kubernetes_api import existing
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

_AGAIN = (
    f"It was deleted: `helm rollback {ISOLATION_RELEASE} --namespace kube-system` makes it again"
)
_ENFORCED = "--enable-network-policy=true"


@subject(phase=Phase.ACCESS, needs_kubernetes=True)
def isolation(deployment: LiveDeployment) -> Checks:
    """The policies of editors' namespaces are there, and the VPC CNI enforces network policies."""
    editors = deployment.config.eks_of_teams.editors
    if not editors:
        return
    selector = f"app.kubernetes.io/instance={ISOLATION_RELEASE}"
    admission = AdmissionregistrationV1Api(deployment.kubernetes)
    policies, bindings = (
        {item.metadata.name for item in found(label_selector=selector).items}
        for found in (
            admission.list_validating_admission_policy,
            admission.list_validating_admission_policy_binding,
        )
    )
    yield checked(
        f"kubectl get validatingadmissionpolicybinding -l {selector}",
        problem=[*sorted(policies ^ bindings)] or (None if bindings else "there is none"),
        words="{}" if not bindings else "lacks {}",
        advice=f"Editors reach nodes without it. {_AGAIN}",
    )
    named = named_namespaces(editors)
    if not named:
        return
    network = NetworkingV1Api(deployment.kubernetes).list_network_policy_for_all_namespaces
    there = {
        item.metadata.namespace
        for item in network(field_selector=f"metadata.name={NETWORK_POLICY}").items
    }
    yield checked(
        f"kubectl get networkpolicy {NETWORK_POLICY} --all-namespaces",
        problem=[name for name in named if name not in there],
        words="there is none in {}",
        advice=f"Pods of other teams reach those there. {_AGAIN}",
    )
    read = AppsV1Api(deployment.kubernetes).read_namespaced_daemon_set
    answer = existing(read, "aws-node", "kube-system", _preload_content=False)
    pod = {} if answer is None else json.loads(answer.data)["spec"]["template"]["spec"]
    arguments = [text for each in pod.get("containers", ()) for text in each.get("args", ())]
    yield checked(
        f"kubectl get daemonset aws-node --namespace kube-system: {_ENFORCED}",
        problem=None if _ENFORCED in arguments else "does not enforce network policies",
        advice="Pods of other teams reach those of editors. Set enableNetworkPolicy in the "
        "configuration values of the add-on vpc-cni, or add vpc-cni to eks.addons: "
        "https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html",
    )
