"""Nodes of a closed network reach the image of the user's health check."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.node_health.section import CHECK_IMAGE
from hyperpod_cdk.schema.errors import Finding, Findings, warning


def node_health_image(config: Config) -> Findings:
    """Find the default images, which are in a public registry, where nodes pull from ECR alone.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    health = config.node_health
    if health is None or not config.network.resolves_aws_alone:
        return
    if health.image is None:
        yield _warning("image", image="charts/node-health/values.yaml")
    if health.recurring is not None and health.recurring.image == CHECK_IMAGE:
        yield _warning("recurring", "image", image=CHECK_IMAGE)


def _warning(*path: str, image: str) -> Finding:
    return warning(
        ("node_health", *path),
        None,
        "leaves the image of the check in a public registry, where no node of a closed network "
        "pulls it, nor of one that resolves AWS's names alone; copy the image of "
        f"{image}, and name the copy",
    )
