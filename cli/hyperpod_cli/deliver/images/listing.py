"""Which images a configuration runs, as helm renders them."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.chart_rules import dependency_values
from hyperpod_cdk.helm.images import is_from_outside, mirrored
from hyperpod_cli.deliver.charts.helm import Helm, helm_binary
from hyperpod_cli.deliver.charts.manifest import images, parse_objects

_ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns")
_FSX_DRIVER = "aws-fsx-csi-driver"


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image of the chart.

    Attributes:
        original: Its name in the registry that the chart takes it from.
        used: Its name as it is deployed.
        mirror: Its name in `helm.image_registry`; None where it needs no mirror, or without one.
        is_from_outside: Whether a network without internet access cannot pull what is deployed.
    """

    original: str
    used: str
    mirror: str | None
    is_from_outside: bool

    @property
    def digest(self) -> str | None:
        """Its digest, if the chart names it; the tag of another one may move."""
        _, separator, digest = self.original.partition("@")
        return digest if separator else None


def listed_images(config: Config, *, chart: HyperPodChart, region: str | None) -> list[Image]:
    """Return the images of the chart, sorted.

    Args:
        config: What is deployed.
        chart: The chart, packaged.
        region: AWS Region of the deployment, if it is known.

    Raises:
        CommandError: helm cannot render the chart.
        ChartError: There is no helm.
    """
    without = config.model_copy(
        update={"helm": config.helm.model_copy(update={"image_registry": None})}
    )
    registry = config.helm.image_registry
    originals = _rendered(without, chart=chart, region=region)
    used = set(_rendered(config, chart=chart, region=region))
    found = []
    for original in originals:
        mirror = None if registry is None else mirrored(original, registry=registry)
        name = mirror if mirror in used else original
        used.discard(name)
        needed = is_from_outside(original, registry=None, region=region)
        found.append(
            Image(
                original=original,
                used=name,
                mirror=mirror if needed or name == mirror else None,
                is_from_outside=is_from_outside(name, registry=registry, region=region),
            )
        )
    # What helm.values name for the one registry alone.
    found += [
        Image(
            original=name,
            used=name,
            mirror=None,
            is_from_outside=is_from_outside(name, registry=registry, region=region),
        )
        for name in used
        if name not in originals
    ]
    return sorted(found, key=lambda image: image.original)


def listed_addons(config: Config) -> Iterator[tuple[str, str | None]]:
    """Yield name and version of each EKS add-on, whose images AWS has in ECR in each region.

    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
    """
    names = _ADDONS if config.storage is None else (*_ADDONS, _FSX_DRIVER)
    pinned = ADDON_VERSIONS.get(config.eks.version, {})
    for name in names:
        yield name, pinned.get(name)


def _rendered(config: Config, *, chart: HyperPodChart, region: str | None) -> list[str]:
    values: dict[str, Any] = dependency_values(
        config.helm,
        region=region or "",
        instance_types=config.cluster.instance_types,
        chart=chart,
    )
    with tempfile.TemporaryDirectory(prefix="images-") as folder:
        helm = Helm(binary=helm_binary(), home=Path(folder))
        manifest = helm.template(
            chart.path.absolute(),
            values=values,
            release=config.helm.release,
            namespace=config.helm.namespace,
        )
    return images(parse_objects(manifest))
