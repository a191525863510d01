"""What a packaged chart of the HyperPod dependencies says of itself."""

import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# `make charts` puts it into the package, for these checks and for the chart's own at deploy time.
_PACKAGING = "packaging.json"
_REGIONAL, _YAML = "regional-values/values-", ".yaml"


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
    """

    path: Path
    agent_regions: tuple[str, ...] | None
    absent: tuple[AbsentChart, ...]
    regional: Mapping[str, str]

    def regional_values(self, region: str) -> dict[str, Any]:
        """Return the chart's values for a region.

        Raises:
            HyperPodChartError: It has none for this region.
        """
        if region not in self.regional:
            known = ", ".join(sorted(self.regional)) or "none"
            raise HyperPodChartError(
                f"{self.path}: no images of the GPU operator for region {region} (regions: "
                f"{known}): switch gpu_operator off, or name a registry of your own in "
                "gpu-operator.gpu-operator.operator.repository of the values"
            )
        values: dict[str, Any] = yaml.safe_load(self.regional[region])
        return values


def read_hyperpod_chart(path: Path) -> HyperPodChart:
    """Read what a chart says of itself; a chart that is not from `make charts` says little.

    Args:
        path: A packaged chart (`.tgz`) or a chart directory.

    Raises:
        HyperPodChartError: It is no chart.
    """
    try:
        files = _directory_files(path) if path.is_dir() else _archive_files(path)
        packaging = json.loads(files.pop(_PACKAGING, "{}"))
    except (OSError, EOFError, tarfile.TarError, ValueError) as error:
        raise HyperPodChartError(
            f"{path}: not a chart that can be read ({error}); package it again with `make charts`"
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
            name.removeprefix(_REGIONAL).removesuffix(_YAML): text for name, text in files.items()
        },
    )


def _is_wanted(name: str) -> bool:
    return name == _PACKAGING or (name.startswith(_REGIONAL) and name.endswith(_YAML))


def _archive_files(path: Path) -> dict[str, str]:
    files = {}
    with tarfile.open(path, mode="r:gz") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            content = archive.extractfile(member) if _is_wanted(name) else None
            if content is not None:
                files[name] = content.read().decode()
    return files


def _directory_files(path: Path) -> dict[str, str]:
    found = [path / _PACKAGING, *sorted(path.glob(f"{_REGIONAL}*{_YAML}"))]
    return {
        file.relative_to(path).as_posix(): file.read_text("utf-8")
        for file in found
        if file.is_file()
    }
