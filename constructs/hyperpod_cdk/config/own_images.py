"""The images that the deployment's own charts pull: a law holds the list to what is rendered."""

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.addon_versions import autoscaler_image
from hyperpod_cdk.helm.images import image_of_chart, mirrored
from hyperpod_cdk.observability.section import IN_CLUSTER
from hyperpod_cdk.schema.errors import KeyPath


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnImage:
    """An image of a chart of this project.

    Attributes:
        original: Its name, as the chart or the configuration has it.
        used: What nodes pull.
        key: What names another place for it.
    """

    original: str
    used: str
    key: KeyPath


def own_images(config: Config) -> Iterator[OwnImage]:
    """Yield the images of the charts that a configuration installs, without the HyperPod chart."""
    if config.control_plane is None:
        return
    storage = config.storage_of_teams
    claims = () if storage is None else storage.claims
    for name, is_there in (
        (autoscaler_image(config.eks.version), config.operators.cluster_autoscaler),
        (image_of_chart("grafana"), config.observability.grafana_of(IN_CLUSTER) is not None),
        (image_of_chart("fsx-storage"), any(each.directory for each in claims)),
    ):
        if is_there:
            used = mirrored(name, registry=config.helm.image_registry)
            yield OwnImage(original=name, used=used, key=("helm", "image_registry"))
    health = config.node_health
    if health is not None:
        image = health.image or image_of_chart("node-health")
        yield OwnImage(original=image, used=image, key=("node_health", "image"))
        if health.recurring is not None:
            image = health.recurring.image
            yield OwnImage(original=image, used=image, key=("node_health", "recurring", "image"))
