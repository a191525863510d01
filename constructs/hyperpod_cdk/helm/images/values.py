"""Values with which a chart takes its images from another registry."""

import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hyperpod_cdk.helm.images.registry import mirrored

GLOBAL_REGISTRY: Final = ("global", "imageRegistry")
"""The value that `make charts` lets images obey which no value of the official chart names."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_VALUES = re.compile(r"(?:charts/[^/]+/)*values\.yaml")
_CHART = re.compile(r"(?:charts/[^/]+/)*Chart\.yaml")
# Keys beside an image's repository.
_COMPANIONS = frozenset({"digest", "image", "pullPolicy", "tag", "version"})
Keys = tuple[str, ...]


def image_values(chart: Path, *, registry: str) -> dict[str, Any]:
    """Return values that name the registry for each image that a value of the chart names.

    An image whose name is in a template follows `global.imageRegistry`, if anything.

    Args:
        chart: A packaged chart (`.tgz`) or a chart directory.
        registry: The registry, perhaps with a folder.
    """
    values: dict[str, Any] = {}
    _put(values, GLOBAL_REGISTRY, registry)
    for keys, value in _named_images(chart, registry=registry):
        _put(values, keys, value)
    return values


def _named_images(chart: Path, *, registry: str) -> Iterator[tuple[Keys, str]]:
    files = dict(_files(chart))
    # Subcharts first: the parent chart's values override theirs.
    for name in sorted(files, key=lambda each: -each.count("/")):
        if _VALUES.fullmatch(name):
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
        entries = (files.get(f"{parent}Chart.yaml") or {}).get("dependencies") or ()
        aliases = [entry.get("alias") for entry in entries if entry.get("name") == folder]
        place.append(next((alias for alias in aliases if alias), folder))
    return tuple(place)


def _files(chart: Path) -> Iterator[tuple[str, Any]]:
    for name, text in _archived(chart) if chart.is_file() else _in_directory(chart):
        yield name, yaml.load(text, _LOADER) or {}  # noqa: S506 - a safe one


def _archived(chart: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(chart, mode="r:gz") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            content = archive.extractfile(member) if _is_wanted(name) else None
            if content is not None:
                yield name, content.read()


def _in_directory(chart: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(chart.rglob("*.yaml")):
        name = file.relative_to(chart).as_posix()
        if _is_wanted(name):
            yield name, file.read_bytes()


def _is_wanted(name: str) -> bool:
    return _VALUES.fullmatch(name) is not None or _CHART.fullmatch(name) is not None


def _put(values: dict[str, Any], keys: Keys, value: str) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
    values[keys[-1]] = value
