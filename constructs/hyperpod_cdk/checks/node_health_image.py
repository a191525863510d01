"""Nodes of a closed network reach the image of the user's health check."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, warning


def node_health_image(config: Config) -> Iterator[Finding]:
    """Find the default image, which is in a public registry, where nodes pull from ECR alone.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    health = config.node_health
    if health is None or health.image is not None or not config.network.resolves_aws_alone:
        return
    yield warning(
        ("node_health", "image"),
        None,
        "leaves the image of the check in a public registry, where no node of a closed network "
        "pulls it, nor of one that resolves AWS's names alone; copy the image of "
        "charts/node-health/values.yaml, and name the copy",
    )
