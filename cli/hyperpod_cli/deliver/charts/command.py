"""Packages the official chart, or fetches it, or says what newer versions would change."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import boto3
import typer

from hyperpod_cdk import Config, load_config, load_file
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import values_for_chart
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.deliver.charts.archives import required_version, same_version, sha256_of
from hyperpod_cli.deliver.charts.git_source import check_out_chart, newest_commit
from hyperpod_cli.deliver.charts.manifest import compare_manifests
from hyperpod_cli.deliver.charts.package import (
    ARCHIVE_NAME,
    PROVENANCE_NAME,
    fetch,
    package,
    publish,
)
from hyperpod_cli.deliver.charts.pins import (
    Dependency,
    Settings,
    load_pins,
    load_settings,
    record_digests,
)
from hyperpod_cli.helm.helm import ChartError, CommandError, Helm, helm_binary
from hyperpod_stacks.packaged_chart import own_chart

DIFF_NAME = "upstream.diff"


def _installed(chart: Path, *, config: Config, region: str, helm: Helm) -> str:
    """Return what the configuration installs of a chart."""
    try:
        values = values_for_chart(
            read_hyperpod_chart(chart),
            helm=config.helm,
            region=region,
            instance_types=config.instance_types,
        )
        release, namespace = config.helm.release, config.helm.namespace
        return helm.template(chart, values=values, release=release, namespace=namespace)
    except (HyperPodChartError, CommandError) as error:
        raise ChartError(f"the configuration does not fit the chart: {error}") from error


def _packaged_region(settings: Settings, *, output: Path) -> str:
    """Return the region that the packaged chart's provenance was rendered for."""
    provenance = output / PROVENANCE_NAME
    if not provenance.is_file():
        raise ChartError(f"{provenance} does not exist: run `hyperpod-cdk charts` first")
    content = json.loads(provenance.read_text())
    if content["source"]["git_commit"] != settings.pins.chart.git_commit:
        raise ChartError(
            f"{output / ARCHIVE_NAME} is of another commit: run `hyperpod-cdk charts` first"
        )
    return str(content["rendered"]["region"])


def _report_versions(settings: Settings, *, helm: Helm) -> None:
    if settings.archives is not None:
        typer.echo("dependencies: not looked up, CHART_ARCHIVES is set")
        return
    for entry in settings.pins.dependencies:
        try:
            newest = helm.newest_version(name=entry.name, repository=entry.repository)
        except CommandError as error:
            verdict = f"{entry.repository} not reached: {error}"
        else:
            verdict = "the newest" if same_version(newest, entry.version) else f"newest {newest}"
        typer.echo(f"{entry.name}: pinned {entry.version}, {verdict}")


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


PINS = asset_directory("charts") / "pins.yaml"
OUTPUT = Path("build/charts")


def package_if_needed(config_path: Path, *, pins: Path = PINS, output: Path = OUTPUT) -> None:
    """Package the chart if a configuration names none of its own, and the package is old."""
    loaded = load_file(config_path)
    needing = [each.config for each in loaded.deployments if each.config.needs_official_chart]
    if all(own_chart(config) is not None for config in needing):
        return
    if loaded.pipeline is not None and loaded.pipeline.chart is not None:
        fetch(loaded.pipeline.chart, session=boto3.Session(), output=output)
    elif not _is_up_to_date(pins, output):
        package_chart(pins=pins, output=output)


def package_chart(*, pins: Path, output: Path) -> None:
    """Package the official chart at its pinned commit."""
    with _tools(pins) as (settings, helm, workspace):
        started = time.monotonic()
        made = package(settings, helm=helm, workspace=workspace / "package")
        if settings.digests == "record":
            found = {
                (each.dependency.name, each.dependency.parent): each.sha256
                for each in made.archives
            }
            # Of another commit, the pin file has no place for it.
            is_pinned = load_pins(pins).chart.git_commit == settings.pins.chart.git_commit
            changes = record_digests(
                settings.pin_file,
                package=sha256_of(made.file) if is_pinned else None,
                dependencies=found,
            )
            for change in changes:
                typer.echo(f"recorded in {settings.pin_file}: {change}")
        archive = publish(made, output=output)
        rendered = made.provenance["rendered"]
        typer.echo(
            f"{archive}: {archive.stat().st_size / 1e6:.1f} MB, {len(rendered['objects'])} "
            f"objects, {len(rendered['images'])} images, {time.monotonic() - started:.1f} s"
        )


def check_charts(config_path: Path, *, pins: Path, output: Path) -> None:
    """Report newer charts, and write what the newest commit would change of a configuration's.

    A chart repository that cannot be reached is reported and skipped.
    """
    with _tools(pins) as (settings, helm, workspace):
        config = load_config(config_path)
        if config.control_plane is None:
            raise ChartError(
                f"cluster.orchestrator: {config.cluster.orchestrator!r} installs no chart: give a "
                "configuration with eks"
            )
        if config.helm.chart is not None:
            raise ChartError(
                f"helm.chart names {config.helm.chart}, so the official chart is not installed: "
                "give a configuration without helm.chart"
            )
        packaged_region = _packaged_region(settings, output=output)
        region = config.region or packaged_region
        _report_versions(settings, helm=helm)
        source = settings.pins.chart
        newest = newest_commit(source, workspace=workspace)
        if newest == source.git_commit:
            typer.echo(f"chart: {source.git_commit} is the newest commit")
            return
        typer.echo(f"chart: pinned {source.git_commit}, newest {newest}")
        candidate = _candidate(settings, commit=newest, workspace=workspace)
        made = package(candidate, helm=helm, workspace=workspace / "newest")
        now, then = (
            _installed(chart, config=config, region=region, helm=helm)
            for chart in (output / ARCHIVE_NAME, made.file)
        )
        summary, difference = compare_manifests(now, then)
        for line in summary:
            typer.echo(line)
        diff = output / DIFF_NAME
        diff.write_text(difference)
        typer.echo(f"diff of the rendered manifests: {diff}")


@contextmanager
def _tools(pins: Path) -> Iterator[tuple[Settings, Helm, Path]]:
    """Yield what is pinned, helm, and an empty folder to work in."""
    try:
        settings = load_settings(pin_file=pins, environment=os.environ)
        with tempfile.TemporaryDirectory(prefix="charts-") as folder:
            workspace = Path(folder)
            home = workspace / "helm"
            home.mkdir()
            yield settings, Helm(binary=helm_binary(), home=home), workspace
    except OSError as error:
        raise ChartError(one_line(error)) from error


def _is_up_to_date(pins: Path, output: Path) -> bool:
    archive = output / ARCHIVE_NAME
    settings = load_settings(pin_file=pins, environment=os.environ)
    return archive.is_file() and sha256_of(archive) == settings.pins.package_sha256
