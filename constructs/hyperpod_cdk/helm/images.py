"""Names of container images, and values by which a chart takes them from another registry."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import Field

from hyperpod_cdk.helm.chart import chart_files, entries, mapping, refusing
from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.synthesis.assets import asset_directory

_LONGEST = 255
# https://github.com/distribution/reference/blob/main/regexp.go
_HOST = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?"
_PATH = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
# A first component without these is a folder of Docker Hub.
_HOST_MARKS = frozenset(".:")
DOCKER_HUB: Final = "docker.io"
"""Registry of images that name none; its host is registry-1.docker.io."""
CHART_REGISTRIES = ("nvcr.io", "public.ecr.aws", "registry-1.docker.io")
"""Hosts of the registries of the official chart's images: of charts/*/values.yaml in
https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart."""
_OFFICIAL = "library"
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
_ECR = re.compile(
    r"\d{12}\.dkr[.-]ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?:amazonaws|on)\.[a-z.]+"
)

ImageRegistry = Annotated[
    str,
    Field(
        pattern=re.compile(rf"^(?=[^/]*[.:])(?!.*/.*sagemaker){_HOST}(?:/{_PATH})*$(?!\n)"),
        max_length=_LONGEST,
    ),
    Message(
        "must be a registry, such as 111122223333.dkr.ecr.us-west-2.amazonaws.com, perhaps with "
        "folders, in lower case, without https://, and without 'sagemaker' in a folder: holders of "
        "AmazonSageMakerFullAccess may replace images there"
    ),
]


def split_image(image: str) -> tuple[str, str]:
    """Return the registry of an image, and its name there with tag or digest."""
    first, _, rest = image.partition("/")
    if rest and (_HOST_MARKS & set(first) or first == "localhost"):
        return first, rest
    return DOCKER_HUB, image if rest else f"{_OFFICIAL}/{image}"


def mirrored(image: str, *, registry: str | None) -> str:
    """Return what an image is called in a registry that mirrors it, if there is one."""
    if registry is None or image.startswith(f"{registry}/"):
        return image
    return f"{registry}/{split_image(image)[1]}"


def image_of_chart(name: str) -> str:
    """Return the image that a chart of this project, by its folder, names by its digest."""
    values = asset_directory("charts") / name / "values.yaml"
    return str(yaml.safe_load(values.read_text("utf-8"))["image"])


def ecr_region(host: str) -> str | None:
    """Return the AWS Region of a private registry of ECR; None for any other registry."""
    found = _ECR.fullmatch(host)
    return None if found is None else found["region"]


def is_from_outside(image: str, *, registry: str | None, region: str | None) -> bool:
    """Say whether a network without internet access cannot pull an image.

    It reaches ECR in its own region, where that is not known in any, and the registry that the
    configuration names.
    """
    host, _ = split_image(image)
    if registry is not None and image.startswith(f"{registry}/"):
        return False
    found = ecr_region(host)
    return found is None or region not in (None, found)


GLOBAL_REGISTRY: Final = ("global", "imageRegistry")
"""The value that images of the packaged chart obey which no value of the official chart names."""

_READ = re.compile(r"(?:charts/[^/]+/)*(?:values|Chart)\.yaml")
# Keys next to an image's repository.
_COMPANIONS = frozenset({"digest", "image", "pullPolicy", "tag", "version"})
Keys = tuple[str, ...]


def image_values(chart: Path, *, registry: str) -> dict[str, Any]:
    """Return values that name the registry for each image that a value of the chart names.

    An image whose name is in a template follows `global.imageRegistry`, if anything.

    Raises:
        HyperPodChartError: The chart cannot be read.
    """
    values: dict[str, Any] = {}
    _put(values, GLOBAL_REGISTRY, registry)
    with refusing(chart):
        for keys, value in _named_images(chart, registry=registry):
            _put(values, keys, value)
    return values


def _named_images(chart: Path, *, registry: str) -> Iterator[tuple[Keys, str]]:
    texts = chart_files(chart, is_wanted=lambda name: _READ.fullmatch(name) is not None)
    files = {name: mapping(texts, name) for name in texts}
    # Subcharts first: the parent chart's values override theirs.
    for name in sorted(files, key=lambda each: -each.count("/")):
        if name.endswith("values.yaml"):
            place = _place(name, files=files)
            for keys, value in _images_of(files[name], registry=registry):
                yield (*place, *keys), value


def _images_of(node: object, *, registry: str, keys: Keys = ()) -> Iterator[tuple[Keys, str]]:
    if not isinstance(node, Mapping):
        return
    repository, host = node.get("repository"), node.get("registry")
    if isinstance(repository, str) and repository and _COMPANIONS & node.keys():
        if isinstance(host, str) and host:
            yield (*keys, "registry"), registry
        else:
            yield (*keys, "repository"), mirrored(repository, registry=registry)
    for key, item in node.items():
        yield from _images_of(item, registry=registry, keys=(*keys, str(key)))


def _place(name: str, *, files: Mapping[str, Any]) -> Keys:
    """Return under which values those of a file are: by the subcharts' aliases, or their names."""
    folders = name.split("/")[1:-1:2]
    place: list[str] = []
    for depth, folder in enumerate(folders):
        parent = "".join(f"charts/{each}/" for each in folders[:depth])
        owner = files.get(f"{parent}Chart.yaml", {})
        aliases = [each.get("alias") for each in entries(owner) if each.get("name") == folder]
        place.append(next((alias for alias in aliases if alias), folder))
    return tuple(place)


def _put(values: dict[str, Any], keys: Keys, value: str) -> None:
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):  # a value of the chart is in a registry's place
            return
        values = inner
    values[keys[-1]] = value
