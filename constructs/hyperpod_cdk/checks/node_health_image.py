"""Nodes of a closed network reach the image of the user's health check."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, warning


def node_health_image(config: Config) -> Iterator[Finding]:
    """Find the default image, which is in a public registry, in a closed network.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    health = config.node_health
    if health is None or health.image is not None or not config.network.closed:
        return
    yield warning(
        ("node_health", "image"),
        None,
        "leaves the image of the check in a public registry, where no node of a closed network "
        "pulls it; copy the image of charts/node-health/values.yaml, and name the copy",
    )
