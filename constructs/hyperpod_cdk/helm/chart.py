"""What a packaged chart of the HyperPod dependencies says of itself."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter
from yaml.events import CollectionEndEvent, CollectionStartEvent

from hyperpod_cdk.facts import YAML_LOADER
from hyperpod_cdk.schema.errors import one_line, shown
from hyperpod_cdk.schema.given_file import given_bytes
from hyperpod_cdk.schema.yaml_file import expands_too_far
from hyperpod_shared.archives import MOST_PACKAGED_BYTES, Room, chart_members

# `hyperpod-cdk charts` puts it into the package, for these checks and for the chart's own at
# deploy time.
_PACKAGING = "packaging.json"
# libyaml composes nodes by recursion in C: 200,000 brackets end the process.
_DEEPEST = 100
_REGIONAL, _YAML = "regional-values/values-", ".yaml"
_CHART, _VALUES, _TEMPLATES = "Chart.yaml", "values.yaml", "templates/"
_SUBCHART = re.compile(r"charts/[^/]+/Chart\.yaml")
# `hyperpod-cdk charts` adds it; it looks for values that the chart ignores.
_OWN_TEMPLATES = "templates/packaging/"
# `.Values.name`, `index .Values "name"`, or all of them at once.
_READ_VALUE = re.compile(r"\.Values(?:\.(\w+)|\s+\"([^\"]+)\")?")
# Values that Helm defines for every chart.
_VALUES_OF_HELM = ("global", "tags")
# As helm's own `create` has it. https://helm.sh/docs/chart_best_practices/conventions/
_NAME = re.compile(r"[a-zA-Z0-9._-]+")
# The annotation in `charts/not-packaged/Chart.yaml` that the provisioner refuses.
_PLACEHOLDER = "hyperpod-cdk/placeholder"


class HyperPodChartError(ValueError):
    """The chart cannot be used, or not with these values; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsentChart:
    """A chart that a component needs and the package does not hold.

    Its conditions are Helm's, dotted paths in the values; when all hold, it is needed.
    """

    component: str
    name: str
    version: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodChart:
    """The official chart as `hyperpod-cdk charts` packages it, or another one.

    Attributes:
        path: The chart.
        agent_regions: Regions with an image of the health monitoring agent; None: not known.
        absent: What it lacks, as far as it is known.
        regional: Text of the YAML file with a region's values, by region: image registries of the
            GPU operator.
        value_names: Top-level names of its values; Helm ignores others. None: not known.
        is_placeholder: Whether it stands for a chart that is not packaged, and cannot be installed.
    """

    path: Path
    agent_regions: tuple[str, ...] | None
    absent: tuple[AbsentChart, ...]
    regional: Mapping[str, str]
    value_names: frozenset[str] | None
    is_placeholder: bool = False

    def regional_values(self, region: str) -> dict[str, Any]:
        """Return the chart's values for a region; none for one that it does not know.

        Raises:
            HyperPodChartError: They are not to be read.
        """
        with refusing(self.path):
            return mapping(self.regional, region)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Packaging:
    """What `hyperpod-cdk charts` wrote into the package."""

    health_monitoring_agent_regions: tuple[str, ...] | None = None
    absent: tuple[AbsentChart, ...] = ()


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Refuse a chart that cannot be read.

    Raises:
        HyperPodChartError: What is done here did not succeed.
    """
    try:
        yield
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise HyperPodChartError(
            f"{path}: not a chart that can be read ({one_line(error)}); package it again with "
            "`hyperpod-cdk charts`, or one of your own with `helm package`"
        ) from error


def read_hyperpod_chart(path: Path) -> HyperPodChart:
    """Read what a chart says of itself; a chart that is not from `hyperpod-cdk charts` says little.

    Args:
        path: A packaged chart (`.tgz`) or a chart directory.

    Raises:
        HyperPodChartError: It is no chart.
    """
    if not path.exists():
        raise HyperPodChartError(
            f"{path}: there is no chart; run `hyperpod-cdk charts` in the project, or name "
            "another chart"
        )
    with refusing(path):
        files = chart_files(path, is_wanted=_is_wanted)
        packaging = TypeAdapter(_Packaging).validate_json(files.get(_PACKAGING, "{}"))
        value_names = _value_names(files)
        chart = mapping(files, _CHART)
        name = chart.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{_CHART}: {shown(name)} is no name of a chart")
    annotations = chart.get("annotations")
    return HyperPodChart(
        path=path,
        agent_regions=packaging.health_monitoring_agent_regions,
        absent=packaging.absent,
        regional={
            name.removeprefix(_REGIONAL).removesuffix(_YAML): text
            for name, text in files.items()
            if name.startswith(_REGIONAL)
        },
        value_names=value_names,
        is_placeholder=isinstance(annotations, dict) and _PLACEHOLDER in annotations,
    )


def _value_names(files: Mapping[str, str]) -> frozenset[str] | None:
    """Return the top-level values that a chart has, that it reads, or that are its subcharts'."""
    names: list[object] = [*_VALUES_OF_HELM, *mapping(files, _VALUES)]
    for entry in entries(mapping(files, _CHART)):
        names.append(entry.get("alias") or entry.get("name"))
        conditions = str(entry.get("condition") or "").split(",")
        names.extend(condition.strip().partition(".")[0] for condition in conditions)
    for file, text in files.items():
        if _SUBCHART.fullmatch(file):
            names.append(mapping(files, file).get("name"))
        elif file.startswith(_TEMPLATES):
            read = {name or key for name, key in _READ_VALUE.findall(text)}
            if "" in read:  # all of them at once
                return None
            names.extend(read)
    return frozenset(name for name in names if isinstance(name, str) and name)


def entries(chart: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the dependencies that a Chart.yaml lists."""
    found = chart.get("dependencies") or []
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("alias") or entry.get("name"), str)
        for entry in found
    ):
        raise ValueError(f"a dependency in {_CHART} is not a mapping with a name")
    return found


def mapping(files: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the mapping that a YAML file among the texts of a chart is; an empty one for no file.

    Raises:
        ValueError: It is none.
        YAMLError: It is no YAML.
    """
    text = files.get(name, "")
    depth = 0
    for event in yaml.parse(text, YAML_LOADER):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"{name} is nested deeper than {_DEEPEST} levels")
    loader = YAML_LOADER(text)
    root = loader.get_single_node()
    if expands_too_far(root):
        raise ValueError(f"the aliases of {name} expand to far more than a chart has")
    content = {} if root is None else loader.construct_document(root) or {}
    if not isinstance(content, dict):
        raise ValueError(f"{name} is not a mapping")
    return content


def _is_wanted(name: str) -> bool:
    if name.startswith(_TEMPLATES):
        return not name.startswith(_OWN_TEMPLATES)
    if _SUBCHART.fullmatch(name):
        return True
    is_regional = name.startswith(_REGIONAL) and name.endswith(_YAML)
    return is_regional or name in (_PACKAGING, _CHART, _VALUES)


def chart_files(path: Path, *, is_wanted: Callable[[str], bool]) -> dict[str, str]:
    """Return the text of files of a chart, a `.tgz` or a folder, by their names from its folder.

    Raises:
        ArchiveError: It is no archive, holds too much, or what is no file in it.
        OSError: It is not to be read.
    """
    found = _folder_files(path) if path.is_dir() else _packaged_files(path)
    return {name: content().decode(errors="replace") for name, content in found if is_wanted(name)}


def _folder_files(folder: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    room = Room()
    for file in sorted(folder.rglob("*")):
        room.take(files=1)
        if file.is_file():
            room.take(size=file.stat().st_size)
            yield file.relative_to(folder).as_posix(), file.read_bytes


def _packaged_files(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    content = given_bytes(path, most_bytes=MOST_PACKAGED_BYTES)
    for name, text in chart_members(content, room=Room()):
        yield name.removeprefix("./").partition("/")[2], partial(bytes, text)
