"""Nodes reach the images of the user's health check."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.own_images import own_images
from hyperpod_cdk.helm.images import image_of_chart, is_from_outside, split_image
from hyperpod_cdk.node_health.section import CHECK_IMAGE
from hyperpod_cdk.schema.errors import Findings, warning


def node_health_image(config: Config) -> Findings:
    """Find images in a registry that the network does not resolve, or does not reach.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    network = config.network
    for each in own_images(config):
        if each.key[0] != "node_health":
            continue
        image = each.used
        host, _ = split_image(image)
        is_far = network.closed and is_from_outside(image, registry=None, region=config.region)
        if is_far or not network.resolves(host):
            yield warning(
                each.key,
                None if image in (image_of_chart("node-health"), CHECK_IMAGE) else image,
                f"leaves the image of the check in {host}, from where nodes cannot pull it: the "
                "network is closed, or does not resolve that name; copy "
                f"{image}, and name the copy",
            )
