"""Where the Cluster Autoscaler works."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def cluster_autoscaler(config: Config) -> Findings:
    """Find a Cluster Autoscaler without node groups, or with a HyperPod cluster.

    It stops at a node whose provider ID it does not know, which HyperPod's have, and scales nothing
    any more: https://github.com/kubernetes/autoscaler/issues/7540, and the open change 8195 there.
    """
    if not config.operators.cluster_autoscaler:
        return
    key = ("operators", "cluster_autoscaler")
    if config.cluster.exists:
        message = (
            "must be false with a HyperPod cluster: at its nodes the Cluster Autoscaler stops, and "
            "scales nothing any more (github.com/kubernetes/autoscaler/issues/7540); set cluster "
            "to null, or scale node groups by desired_size"
        )
        yield error(key, True, message)
    elif config.node_groups and not any(
        group.min_size < group.most_nodes for group in config.node_groups
    ):
        message = "has nothing to scale: give a node group a max_size above its min_size"
        yield error(key, True, message)
