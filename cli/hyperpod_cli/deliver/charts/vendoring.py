"""Adds the dependencies to the checked-out chart, and removes what must not be in it."""

import shutil
from pathlib import Path

import yaml

from hyperpod_cli.deliver.charts.archives import Archive
from hyperpod_cli.deliver.charts.chart_file import (
    read_chart_archive,
    read_chart_directory,
    same_version,
)
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.pins import Dependency, Pins


def drop_stale_archives(chart: Path) -> list[str]:
    """Delete archives beside a directory of the same chart; helm would pick either.

    Returns:
        The deleted files, relative to the chart.
    """
    dropped = []
    for charts in sorted(chart.rglob("charts")):
        if not charts.is_dir():
            continue
        directories = set(_subcharts(charts.parent))
        for archive in sorted(charts.glob("*.tgz")):
            if read_chart_archive(archive).name in directories:
                archive.unlink()
                dropped.append(str(archive.relative_to(chart)))
    return dropped


def check_requirements(chart: Path, *, pins: Pins) -> None:
    """Compare what the charts require from elsewhere with the pins.

    Raises:
        ChartError: A requirement without pin, another version, or a pin that nothing requires.
    """
    top = read_chart_directory(chart)
    pinned = {dependency.name for dependency in pins.dependencies if dependency.parent is None}
    both = sorted(pinned & set(pins.left_out))
    if both:
        raise ChartError(f"{both[0]} is in both `dependencies` and `left_out` of the pin file")
    for requirement in top.requirements:
        known = pinned | set(pins.left_out)
        if requirement.is_remote and requirement.name not in known:
            raise ChartError(
                f"the chart requires {requirement.name} {requirement.version} from "
                f"{requirement.repository}, which the pin file does not list: add it to "
                "`dependencies`, or to `left_out` if it is off by default"
            )
    for dependency in pins.dependencies:
        _check_pin(dependency, chart=chart)


def place_archives(chart: Path, *, archives: list[Archive]) -> None:
    """Copy each archive to where helm looks for it."""
    for archive in archives:
        charts = _home(archive.dependency, chart=chart) / "charts"
        charts.mkdir(exist_ok=True)
        shutil.copyfile(archive.file, charts / f"{archive.dependency.name}.tgz")


def leave_out(chart: Path, *, names: list[str]) -> None:
    """Remove requirements from the chart's Chart.yaml; helm refuses one that is not there."""
    file = chart / "Chart.yaml"
    content = yaml.safe_load(file.read_text())
    requirements = content.get("dependencies") or []
    content["dependencies"] = [entry for entry in requirements if entry["name"] not in names]
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    # It would list what was removed.
    (chart / "Chart.lock").unlink(missing_ok=True)


def required_version(dependency: Dependency, *, chart: Path) -> str | None:
    """Return the version of a dependency that the chart, or its parent in it, requires, if any.

    Raises:
        ChartError: The chart has no such parent.
    """
    owner = read_chart_directory(_home(dependency, chart=chart))
    wanted = [entry.version for entry in owner.requirements if entry.name == dependency.name]
    return wanted[0] if wanted else None


def _subcharts(chart: Path) -> dict[str, Path]:
    """Return the charts that are unpacked inside a chart, by name."""
    folders = sorted(file.parent for file in (chart / "charts").glob("*/Chart.yaml"))
    return {read_chart_directory(folder).name: folder for folder in folders}


def _home(dependency: Dependency, *, chart: Path) -> Path:
    if dependency.parent is None:
        return chart
    subcharts = _subcharts(chart)
    if dependency.parent not in subcharts:
        raise ChartError(
            f"{dependency.label}: parent {dependency.parent!r} is not a component of the chart; "
            f"components: {', '.join(sorted(subcharts))}"
        )
    return subcharts[dependency.parent]


def _check_pin(dependency: Dependency, *, chart: Path) -> None:
    owner = read_chart_directory(_home(dependency, chart=chart))
    required = required_version(dependency, chart=chart)
    if required is None:
        raise ChartError(
            f"{dependency.label}: {owner.name} {owner.version} does not require it; remove it from "
            "the pin file"
        )
    if not same_version(required, dependency.version):
        raise ChartError(
            f"{dependency.name}: the pin file has version {dependency.version}, {owner.name} "
            f"requires {required}; pin that version and record its digest"
        )
