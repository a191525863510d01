"""There is something that runs pods."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, error


def any_nodes(config: Config) -> Iterator[Finding]:
    """Find a deployment without a HyperPod cluster where nothing else runs pods.

    An EKS cluster that exists may have nodes of its own.

    https://docs.aws.amazon.com/eks/latest/userguide/eks-compute.html
    """
    if config.cluster.exists or config.node_groups or config.eks.is_existing:
        return
    message = (
        "and nothing else runs pods: describe a HyperPod cluster, list node_groups, or name an EKS "
        "cluster with nodes of its own in eks.cluster_arn"
    )
    yield error(("cluster",), None, message)
