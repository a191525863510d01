"""Reports newer versions upstream, and what they would change."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import values_for_chart
from hyperpod_cli.deliver.charts.archives import required_version
from hyperpod_cli.deliver.charts.chart_file import same_version
from hyperpod_cli.deliver.charts.commands import ChartError, CommandError
from hyperpod_cli.deliver.charts.git_source import check_out_chart, newest_commit
from hyperpod_cli.deliver.charts.helm import Helm
from hyperpod_cli.deliver.charts.manifest import compare_manifests
from hyperpod_cli.deliver.charts.package import package
from hyperpod_cli.deliver.charts.pins import Dependency, Settings
from hyperpod_cli.deliver.charts.publish import ARCHIVE_NAME, PROVENANCE_NAME

DIFF_NAME = "upstream.diff"

Report = Callable[[str], None]


def check(
    settings: Settings,
    *,
    config: Config,
    helm: Helm,
    workspace: Path,
    output: Path,
    report: Report,
) -> None:
    """Report newer versions upstream, and write what the newest commit would change to a diff.

    A chart repository that cannot be reached is reported and skipped.

    Args:
        settings: What is packaged now.
        config: Says what of the chart is installed: components, values, region.
        helm: The helm to use.
        workspace: Empty directory to work in.
        output: Folder with the packaged chart; the diff goes there too.
        report: Called with a line each.

    Raises:
        ChartError: Nothing could be compared: no packaged chart, no access to the newest one, or
            one of the two cannot be installed with the configuration.
    """
    if config.helm.chart is not None:
        raise ChartError(
            f"helm.chart names {config.helm.chart}, so the official chart is not installed: give "
            "a configuration without helm.chart (CONFIG=...)"
        )
    packaged_region = _packaged_region(settings, output=output)
    region = config.region or packaged_region
    _report_versions(settings, helm=helm, report=report)
    source = settings.pins.chart
    newest = newest_commit(source, workspace=workspace)
    if newest == source.git_commit:
        report(f"chart: {source.git_commit} is the newest commit")
        return
    report(f"chart: pinned {source.git_commit}, newest {newest}")
    candidate = _candidate(settings, commit=newest, workspace=workspace)
    made = package(candidate, helm=helm, workspace=workspace / "newest", report=report)
    now, then = (
        _installed(chart, config=config, region=region, helm=helm)
        for chart in (output / ARCHIVE_NAME, made.file)
    )
    comparison = compare_manifests(now, then)
    for line in comparison.summary:
        report(line)
    diff = output / DIFF_NAME
    diff.write_text(comparison.diff)
    report(f"diff of the rendered manifests: {diff}")


def _installed(chart: Path, *, config: Config, region: str, helm: Helm) -> str:
    """Return what the configuration installs of a chart."""
    try:
        values = values_for_chart(
            read_hyperpod_chart(chart),
            helm=config.helm,
            region=region,
            instance_types=config.cluster.instance_types,
        )
        release, namespace = config.helm.release, config.helm.namespace
        return helm.template(chart, values=values, release=release, namespace=namespace)
    except (HyperPodChartError, CommandError) as error:
        raise ChartError(f"the configuration does not fit the chart: {error}") from error


def _packaged_region(settings: Settings, *, output: Path) -> str:
    """Return the region that the packaged chart's provenance was rendered for."""
    provenance = output / PROVENANCE_NAME
    if not provenance.is_file():
        raise ChartError(f"{provenance} does not exist: run `make charts` first")
    content = json.loads(provenance.read_text())
    if content["source"]["git_commit"] != settings.pins.chart.git_commit:
        raise ChartError(f"{output / ARCHIVE_NAME} is of another commit: run `make charts` first")
    return str(content["rendered"]["region"])


def _report_versions(settings: Settings, *, helm: Helm, report: Report) -> None:
    if settings.archives is not None:
        report("dependencies: not looked up, CHART_ARCHIVES is set")
        return
    for entry in settings.pins.dependencies:
        try:
            newest = helm.newest_version(name=entry.name, repository=entry.repository)
        except CommandError as error:
            report(f"{entry.name}: pinned {entry.version}, {entry.repository} not reached: {error}")
            continue
        verdict = "the newest" if same_version(newest, entry.version) else f"newest {newest}"
        report(f"{entry.name}: pinned {entry.version}, {verdict}")


def _candidate(settings: Settings, *, commit: str, workspace: Path) -> Settings:
    """Return the settings with the newest commit and the versions that it requires."""
    source = settings.pins.chart.model_copy(update={"git_commit": commit})
    chart = check_out_chart(source=source, workspace=workspace / "candidate")
    dependencies: list[Dependency] = []
    for entry in settings.pins.dependencies:
        version = required_version(entry, chart=chart)
        if version is not None:
            dependencies.append(entry.model_copy(update={"version": version}))
    update = {"chart": source, "dependencies": dependencies}
    return replace(settings, pins=settings.pins.model_copy(update=update), digests="ignore")
