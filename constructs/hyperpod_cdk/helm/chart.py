"""What a packaged chart of the HyperPod dependencies says of itself."""

import json
import re
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.schema.errors import one_line

# `make charts` puts it into the package, for these checks and for the chart's own at deploy time.
_PACKAGING = "packaging.json"
# libyaml's loader, where PyYAML has it, is eight times as fast.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REGIONAL, _YAML = "regional-values/values-", ".yaml"
_CHART, _VALUES, _TEMPLATES = "Chart.yaml", "values.yaml", "templates/"
_SUBCHART = re.compile(r"charts/[^/]+/Chart\.yaml")
# `make charts` adds it; it looks for values that the chart ignores.
_OWN_TEMPLATES = "templates/packaging/"
# `.Values.name`, `index .Values "name"`, or all of them at once.
_READ_VALUE = re.compile(r"\.Values(?:\.(\w+)|\s+\"([^\"]+)\")?")
# Values that Helm defines for every chart.
_VALUES_OF_HELM = ("global", "tags")
# The annotation in `charts/not-packaged/Chart.yaml` that the provisioner refuses.
_PLACEHOLDER = "hyperpod-cdk/placeholder"


class HyperPodChartError(ValueError):
    """The chart cannot be used, or not with these values; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsentChart:
    """A chart that a component needs and the package does not hold.

    Attributes:
        component: The component.
        name: The chart it needs.
        version: Its version.
        conditions: Helm conditions, dotted paths in the values; when all hold, it is needed.
    """

    component: str
    name: str
    version: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodChart:
    """The official chart as `make charts` packages it, or another one.

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
        """Return the chart's values for a region; none for one that it does not know."""
        values: dict[str, Any] = yaml.load(self.regional.get(region, "{}"), LOADER)  # noqa: S506
        return values


def read_hyperpod_chart(path: Path) -> HyperPodChart:
    """Read what a chart says of itself; a chart that is not from `make charts` says little.

    Args:
        path: A packaged chart (`.tgz`) or a chart directory.

    Raises:
        HyperPodChartError: It is no chart.
    """
    if not path.exists():
        raise HyperPodChartError(
            f"{path}: there is no chart; run `make charts` in the project, or name another chart"
        )
    try:
        files = chart_files(path, is_wanted=_is_wanted)
        packaging = json.loads(files.get(_PACKAGING, "{}"))
        value_names = _value_names(files)
        annotations = _mapping(files, _CHART).get("annotations")
    except (OSError, EOFError, tarfile.TarError, ValueError, yaml.YAMLError) as error:
        reason = one_line(error)
        raise HyperPodChartError(
            f"{path}: not a chart that can be read ({reason}); package it again with `make charts`"
        ) from error
    regions = packaging.get("health_monitoring_agent_regions")
    return HyperPodChart(
        path=path,
        agent_regions=None if regions is None else tuple(regions),
        absent=tuple(
            AbsentChart(**{**entry, "conditions": tuple(entry["conditions"])})
            for entry in packaging.get("absent", [])
        ),
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
    names: set[object] = {*_VALUES_OF_HELM, *_mapping(files, _VALUES)}
    for entry in _mapping(files, _CHART).get("dependencies") or ():
        if not isinstance(entry, dict):
            raise ValueError(f"a dependency in {_CHART} is not a mapping")
        names.add(entry.get("alias") or entry.get("name"))
        conditions = str(entry.get("condition") or "").split(",")
        names.update(condition.strip().partition(".")[0] for condition in conditions)
    for file, text in files.items():
        if _SUBCHART.fullmatch(file):
            names.add(_mapping(files, file).get("name"))
        elif file.startswith(_TEMPLATES):
            read = {name or key for name, key in _READ_VALUE.findall(text)}
            if "" in read:  # all of them at once
                return None
            names |= read
    return frozenset(name for name in names if isinstance(name, str) and name)


def _mapping(files: Mapping[str, str], name: str) -> dict[str, Any]:
    content = yaml.load(files.get(name, ""), LOADER) or {}  # noqa: S506 - a safe one
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
    """Return the text of files of a chart, by their names from its folder.

    Args:
        path: A packaged chart (`.tgz`) or a chart directory.
        is_wanted: Says which, by their names.
    """
    files = {}
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if is_wanted(name) and file.is_file():
                files[name] = file.read_text("utf-8", errors="replace")
        return files
    with tarfile.open(path, mode="r:gz") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            content = archive.extractfile(member) if is_wanted(name) else None
            if content is not None:
                files[name] = content.read().decode(errors="replace")
    return files
