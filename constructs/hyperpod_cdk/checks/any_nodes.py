"""There is something that runs pods."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def any_nodes(config: Config) -> Findings:
    """Find a deployment without a HyperPod cluster where nothing else runs pods.

    https://docs.aws.amazon.com/eks/latest/userguide/eks-compute.html
    """
    if config.cluster.exists or config.node_groups:
        return
    message = (
        "and there are no node_groups, so nothing would run pods: describe a HyperPod cluster, "
        "node groups, or both"
    )
    yield error(("cluster",), None, message)
