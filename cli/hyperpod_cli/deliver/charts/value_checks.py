"""Adds checks of values to a chart, whose own templates accept values that they then ignore."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import yaml

from hyperpod_cdk.helm.components.rules import value_at
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.deliver.charts.chart_file import ChartFile
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.inspection import AbsentChart

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
    """Put the value checks template and the data it reads into an unpacked chart.

    Returns:
        The files added, relative to the chart.

    Raises:
        ChartError: The chart has a file of that name already.
    """
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
