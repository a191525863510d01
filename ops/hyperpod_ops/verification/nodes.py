"""How many nodes there should be, and which Kubernetes knows."""

from kubernetes.client import CoreV1Api, V1Node

from hyperpod_cdk import Config
from hyperpod_ops.verification.check import Deployment


def wanted_nodes(config: Config) -> int:
    """Return how many nodes the configuration asks for."""
    return sum(group.instance_count for group in config.cluster.all_groups)


def enough(count: int, *, config: Config) -> bool:
    """Tell whether so many nodes are as many as the configuration asks for.

    Args:
        count: How many there are.
        config: With the counts of its groups; autoscaling may add to them.
    """
    wanted = wanted_nodes(config)
    return count == wanted or (config.cluster.auto_scaling is not None and count > wanted)


def listed_nodes(deployment: Deployment) -> list[V1Node]:
    """Return the nodes that Kubernetes knows.

    Raises:
        ApiException: The API refused.
        HTTPError: The API was not reached.
    """
    nodes: list[V1Node] = CoreV1Api(deployment.kubernetes).list_node().items
    return nodes
