"""Finds what an unpacked chart lacks, and the regions that its health monitoring agent supports."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from hyperpod_cdk.helm.components import value_at
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.deliver.charts.archives import (
    ChartFile,
    Requirement,
    read_chart_directory,
    subcharts,
)
from hyperpod_cli.helm.helm import ChartError

_AGENT_TEMPLATE = Path("charts/health-monitoring-agent/templates/_helpers.tpl")
_REGION_AND_ACCOUNT = re.compile(r'"([a-z]{2}(?:-[a-z]+)+-\d)"\s+"\d{12}"')


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsentChart:
    """A chart that a component requires and the package does not hold.

    It is needed if all conditions are on: paths from the top of the values.
    """

    component: str
    name: str
    version: str
    conditions: list[str]


def absent_charts(chart: Path, *, left_out: list[Requirement]) -> list[AbsentChart]:
    """List what is missing anywhere in an unpacked chart, and what was left out of it."""
    top = [
        AbsentChart(
            component=entry.key,
            name=entry.name,
            version=entry.version,
            conditions=[entry.condition or f"{entry.key}.enabled"],
        )
        for entry in left_out
    ]
    return [*top, *_absent_below(chart, prefix="", conditions=[])]


def agent_regions(chart: Path) -> list[str]:
    """List the regions for which the health monitoring agent has an image, sorted."""
    file = chart / _AGENT_TEMPLATE
    regions = sorted(set(_REGION_AND_ACCOUNT.findall(file.read_text()))) if file.is_file() else []
    if not regions:
        raise ChartError(
            f"{_AGENT_TEMPLATE} of the chart no longer lists regions and registry accounts: this "
            "commit of the chart needs a newer version of the packaging"
        )
    return regions


def _absent_below(chart: Path, *, prefix: str, conditions: list[str]) -> Iterator[AbsentChart]:
    content = read_chart_directory(chart)
    present = subcharts(chart)
    for entry in content.requirements:
        own = [_from_the_top(entry.condition, prefix=prefix)] if entry.condition else []
        if entry.name in present:
            yield from _absent_below(
                present[entry.name],
                prefix=f"{prefix}{entry.key}.",
                conditions=[*conditions, *own],
            )
        else:
            yield AbsentChart(
                component=content.name,
                name=entry.name,
                version=entry.version,
                conditions=[*conditions, *own],
            )


def _from_the_top(condition: str, *, prefix: str) -> str:
    return ",".join(f"{prefix}{path.strip()}" for path in condition.split(","))


_TEMPLATE = asset_directory("charts") / "value_checks.yaml"
# helm renders the deepest path first: this deep, the checks speak before any component's template
# fails with a message of its own.
_TEMPLATE_IN_CHART = Path(
    "templates/packaging/rendered/before/the/templates/of/all/charts/value_checks.yaml"
)
_DATA_IN_CHART = Path("packaging.json")


def add_value_checks(
    tree: Path, *, chart: ChartFile, absent: list[AbsentChart], regions: list[str]
) -> list[str]:
    """Add the template of the value checks and its data to a chart; return the files' names."""
    conditions = [entry.condition for entry in chart.requirements if entry.condition]
    data = {
        "absent": [asdict(entry) for entry in absent],
        "conditions": conditions,
        "health_monitoring_agent_regions": regions,
        "ignored_defaults": _ignored_defaults(tree, conditions=conditions),
    }
    for name in (_TEMPLATE_IN_CHART, _DATA_IN_CHART):
        if (tree / name).exists():
            raise ChartError(f"the chart already has a file {name}, which the packaging adds")
    (tree / _TEMPLATE_IN_CHART).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_TEMPLATE, tree / _TEMPLATE_IN_CHART)
    (tree / _DATA_IN_CHART).write_text(json.dumps(data, indent=2, sort_keys=True) + "\n")
    return [str(_DATA_IN_CHART), str(_TEMPLATE_IN_CHART)]


def _ignored_defaults(tree: Path, *, conditions: list[str]) -> dict[str, object]:
    """Return the chart's own values at paths that end in `enable`, where helm wants `enabled`."""
    file = tree / "values.yaml"
    values = yaml.safe_load(file.read_text()) if file.is_file() else {}
    paths = [path.removesuffix("d") for path in conditions if path.endswith(".enabled")]
    found = {path: value_at(values or {}, keys=tuple(path.split("."))) for path in paths}
    return {path: value for path, value in found.items() if value is not None}
