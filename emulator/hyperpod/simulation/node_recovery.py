"""Automatic recovery of the nodes that a label of Kubernetes marks.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-manual.html
"""

from collections.abc import Iterable, Mapping

from emulator.hyperpod.simulation.cluster_lifecycle import ClusterLifecycle
from emulator.hyperpod.simulation.nodes import Place
from emulator.hyperpod.simulation.state import Cluster, Node
from emulator.hyperpod.simulation.views import node_view

PENDING_REBOOT, PENDING_REPLACEMENT = (
    "UnschedulablePendingReboot",
    "UnschedulablePendingReplacement",
)


def recover_marked(
    clusters: Iterable[Cluster],
    *,
    marked: Mapping[str, str],
    lifecycle: ClusterLifecycle,
    now: float,
) -> None:
    """Reboot or replace each running node that is marked, unless the cluster recovers none.

    Args:
        clusters: All clusters.
        marked: The node-health-status of nodes, by the name of the Kubernetes Node.
        lifecycle: Moves the nodes.
        now: The time.
    """
    for cluster in clusters:
        if cluster.settings.get("NodeRecovery") == "None":
            continue
        for group in cluster.groups.values():
            for node in [each for each in group.nodes if _works(each)]:
                health = marked.get(node_view(cluster, node).kubernetes_name)
                place = Place(cluster, group, node)
                if health == PENDING_REBOOT:
                    lifecycle.nodes.reboot(place, now)
                elif health == PENDING_REPLACEMENT:
                    reason = f"The node is labelled {health}"
                    lifecycle.nodes.replace(place, now, reason=reason)


def _works(node: Node) -> bool:
    return node.status == "Running" and node.joined and not node.rebooting
