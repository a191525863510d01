"""What EKS add-ons put into Kubernetes: their pods on each node, and the CSI driver of FSx."""

from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes.client import StorageV1Api

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON
from hyperpod_cli.aws.kubernetes_api import existing
from hyperpod_cli.inspect.verification.check import (
    Check,
    Checks,
    LiveDeployment,
    Phase,
    checked,
    several,
    subject,
)
from hyperpod_cli.inspect.verification.nodes import Workload, put_back
from hyperpod_cli.inspect.verification.subjects.eks.addons import WITHOUT
from hyperpod_cli.operate.nodes.health import pods_of

_NAMESPACE = "kube-system"
_DRIVER = "fsx.csi.aws.com"


# Of the pods that each node has one of:
# https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html and the pages next to it,
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver
_SELECTORS: Mapping[str, str] = {
    "vpc-cni": "k8s-app=aws-node",
    "kube-proxy": "k8s-app=kube-proxy",
    "eks-pod-identity-agent": "app.kubernetes.io/name=eks-pod-identity-agent",
    FSX_ADDON: "app=fsx-csi-node",
}
_CONTROLLERS: Mapping[str, str] = {DNS_ADDON: "coredns", FSX_ADDON: "fsx-csi-controller"}


@subject(phase=Phase.ADDONS, needs_kubernetes=True)
def addon_pods(deployment: LiveDeployment) -> Checks:
    """Each node has a ready pod of each add-on for nodes; CoreDNS and the CSI drivers run."""
    config = deployment.config
    needed = _needed(config)
    if FSX_ADDON in needed:
        driver = existing(StorageV1Api(deployment.kubernetes).read_csi_driver, _DRIVER)
        yield checked(
            f"kubectl get csidriver {_DRIVER}",
            problem=None if driver is not None else "is not installed",
            advice=WITHOUT[FSX_ADDON] + _again(config, FSX_ADDON),
        )
    nodes = [node["metadata"]["name"] for node in deployment.nodes]
    for addon in (name for name in _SELECTORS if name in needed):
        yield _on_each_node(deployment, nodes, addon=addon)
    for addon in config.installed_addons:
        if addon in _CONTROLLERS:
            controller = Workload(
                kind="deploy",
                name=_CONTROLLERS[addon],
                namespace=_NAMESPACE,
                without=WITHOUT[addon],
            )
            yield controller.check(deployment, install=_again(config, addon))


def _on_each_node(deployment: LiveDeployment, nodes: Sequence[str], *, addon: str) -> Check:
    selector = _SELECTORS[addon]
    states = _states(deployment, selector=selector)
    see = f"See why: `kubectl describe pods -A -l {selector}`"
    return checked(
        f"kubectl get pods -A -l {selector} -o wide: one is ready on each node",
        problem=_problem(nodes, states),
        advice=WITHOUT[addon] + (see if states else _again(deployment.config, addon)),
    )


def _needed(config: Config) -> frozenset[str]:
    """Return the add-ons of the deployment, and the driver, which may have another owner."""
    ours = config.installed_addons
    return frozenset((*ours, FSX_ADDON) if config.needs_fsx_csi_driver else ours)


def _again(config: Config, addon: str) -> str:
    if addon not in config.installed_addons:
        return "Install the driver again, or list it under eks.addons and deploy"
    return put_back(config, addon)


def _problem(nodes: Sequence[str], states: Mapping[str, str]) -> str | None:
    """Return which nodes lack a ready pod; None if none does."""
    lacking = [f"{node}: {states.get(node, 'none')}" for node in nodes if states.get(node, "none")]
    if not lacking:
        return None
    return f"{len(nodes) - len(lacking)} of {len(nodes)}; {several(lacking)}"


def _states(deployment: LiveDeployment, *, selector: str) -> dict[str, str]:
    """Return what is wrong with the pod on each node; empty for one that is ready."""
    states: dict[str, str] = {}
    for pod in pods_of(deployment.kubernetes, label_selector=selector):
        node = pod["spec"].get("nodeName", "")
        # While a pod is replaced, there are two.
        states[node] = _state(pod) if states.get(node, "none") else ""
    return states


def _state(pod: Mapping[str, Any]) -> str:
    status = pod.get("status") or {}
    conditions = {item["type"]: item["status"] for item in status.get("conditions") or ()}
    if conditions.get("Ready") == "True":
        return ""
    waiting = [
        container["state"]["waiting"].get("reason", "waiting")
        for key in ("initContainerStatuses", "containerStatuses")
        for container in status.get(key) or ()
        if "waiting" in (container.get("state") or {})
    ]
    return str(waiting[0]) if waiting else "not ready"
