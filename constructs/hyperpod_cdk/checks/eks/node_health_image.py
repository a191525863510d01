"""Nodes reach the images of the user's health check."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.images import image_of_chart, is_from_outside, split_image
from hyperpod_cdk.node_health.section import CHECK_IMAGE
from hyperpod_cdk.schema.errors import Findings, KeyPath, warning


def node_health_image(config: Config) -> Findings:
    """Find images in a registry that the network does not resolve, or does not reach.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    health, network = config.node_health, config.network
    if health is None:
        return
    recurring = health.recurring
    images: list[tuple[KeyPath, str | None, str]] = [
        (("image",), health.image, image_of_chart("node-health")),
        *([(("recurring", "image"), recurring.image, CHECK_IMAGE)] if recurring else []),
    ]
    for path, named, default in images:
        image = named or default
        host, _ = split_image(image)
        is_far = network.closed and is_from_outside(image, registry=None, region=config.region)
        if is_far or not network.resolves(host):
            yield warning(
                ("node_health", *path),
                None if named in (None, default) else named,
                f"leaves the image of the check in {host}, from where nodes cannot pull it: the "
                "network is closed, or does not resolve that name; copy "
                f"{image}, and name the copy",
            )
