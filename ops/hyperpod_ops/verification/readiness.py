"""The nodes as Kubernetes sees them."""

from collections.abc import Iterator

from kubernetes.client import V1Node

from hyperpod_ops.verification.check import Check, Deployment, checked, several
from hyperpod_ops.verification.nodes import enough, listed_nodes, wanted_nodes


def readiness(deployment: Deployment) -> Iterator[Check]:
    """Check that the kubelet of each node says that it takes pods."""
    nodes = listed_nodes(deployment)
    waiting = [node.metadata.name for node in nodes if not _is_ready(node)]
    ready, wanted = len(nodes) - len(waiting), wanted_nodes(deployment.config)
    told = [f"{ready} of {wanted}", f"not {several(waiting)}" if waiting else ""]
    holds = not waiting and enough(ready, config=deployment.config)
    yield checked(
        "kubectl get nodes -o wide: every node is Ready",
        problem=None if holds else "; ".join(part for part in told if part),
        advice="See its conditions: `kubectl describe node NAME`. A node that never joins has a "
        "lifecycle script that fails, no route out, or a security group without its own rules",
    )


def _is_ready(node: V1Node) -> bool:
    conditions = node.status.conditions or ()
    return any((each.type, each.status) == ("Ready", "True") for each in conditions)
