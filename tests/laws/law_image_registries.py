"""Each registry of an image resolves in the network, and can be reached from it.

Nodes of a closed network reach ECR in their own region alone:
https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""

import json
from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.helm.images import CHART_REGISTRIES, ecr_region, split_image
from tests.support.laws import Deployment, Resource

_DOCKER_HUB = {"docker.io": "registry-1.docker.io"}


# Of the chart that stands in for the official one: https://www.rfc-editor.org/rfc/rfc2606
_OF_THE_STAND_IN = ".invalid"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each image that no node can pull, and of which no rule says so."""
    config = deployment.config
    told = " ".join(each.message for each in findings(config) if "image" in str(each.path[-1]))
    return [
        release.violation(f"no node pulls from {host}", allowed="what the network resolves")
        for release in deployment.of_type("Custom::HelmRelease")
        for host in sorted({*_registries(deployment, release)})
        if host not in told and not host.endswith(_OF_THE_STAND_IN)
        if not _reaches(deployment.config, host, region=deployment.region)
    ]


def _registries(deployment: Deployment, release: Resource) -> Iterator[str]:
    text = deployment.text(release.stack, release.properties.get("Values", "{}"))
    values = json.loads(text)
    named = [*_named(values)]
    yield from named
    helm = deployment.config.helm
    is_official = release.properties.get("Release") == helm.release and helm.chart is None
    if is_official and helm.image_registry is None and not helm.values:
        yield from CHART_REGISTRIES


def _named(values: object) -> Iterator[str]:
    match values:
        case Mapping():
            for key, value in values.items():
                if key in ("image", "repository") and isinstance(value, str) and "/" in value:
                    host = split_image(value)[0]
                    yield _DOCKER_HUB.get(host, host)
                elif key in ("imageRegistry", "registry") and isinstance(value, str) and value:
                    yield value.partition("/")[0]
                yield from _named(value)
        case list():
            for each in values:
                yield from _named(each)


def _reaches(config: Config, host: str, *, region: str) -> bool:
    network = config.network
    # A name that the user lists is reached in the user's own way, in a closed network, too.
    is_near = not network.closed or ecr_region(host) in (region, None)
    return is_near and network.resolves(host)
