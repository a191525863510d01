"""Packages the official chart, or fetches it, or compares it with newer ones."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import load_config, load_file
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cdk.stacks.packaged_chart import own_chart
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.aws.session import profile_session
from hyperpod_cli.deliver.charts.check import check
from hyperpod_cli.deliver.charts.commands import ChartError
from hyperpod_cli.deliver.charts.helm import Helm, helm_binary
from hyperpod_cli.deliver.charts.package import package
from hyperpod_cli.deliver.charts.pins import Settings, load_settings, record_digests
from hyperpod_cli.deliver.charts.publish import ARCHIVE_NAME, fetch, publish

PINS = Path("charts/pins.yaml")
OUTPUT = Path("build/charts")


def package_if_needed(config_path: Path, *, pins: Path = PINS, output: Path = OUTPUT) -> None:
    """Package the chart if a configuration names none of its own, and the package is out of date.

    Args:
        config_path: File of the configuration.
        pins: What is pinned. Default: the project's.
        output: Folder of the package. Default: the project's.

    Raises:
        FailedError: It cannot be packaged.
        ConfigError: The configuration cannot be used.
        HyperPodChartError: A stand-in for the chart cannot be used.
    """
    loaded = load_file(config_path)
    if all(own_chart(each.config) is not None for each in loaded.deployments):
        return
    if loaded.pipeline is not None and loaded.pipeline.chart is not None:
        session = profile_session()
        fetch(loaded.pipeline.chart, session=session, output=output, report=_report)
    elif not _is_up_to_date(pins, output):
        package_chart(pins=pins, output=output)


def package_chart(*, pins: Path = PINS, output: Path = OUTPUT) -> None:
    """Package the official chart at its pinned commit.

    Raises:
        FailedError: It cannot be packaged.
    """
    with _tools(pins) as tools:
        _package(tools.settings, helm=tools.helm, workspace=tools.workspace, output=output)


def check_charts(config_path: Path, *, pins: Path = PINS, output: Path = OUTPUT) -> None:
    """Report newer charts, and what they would change of what a configuration installs.

    Raises:
        FailedError: They cannot be compared.
        ConfigError: The configuration cannot be used.
    """
    with _tools(pins) as tools:
        check(
            tools.settings,
            config=load_config(config_path),
            helm=tools.helm,
            workspace=tools.workspace,
            output=output,
            report=_report,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tools:
    settings: Settings
    helm: Helm
    workspace: Path


@contextmanager
def _tools(pins: Path) -> Iterator[_Tools]:
    if pins == PINS and not pins.exists():  # outside a checkout
        pins = asset_directory("charts") / pins.name
    try:
        settings = load_settings(pin_file=pins, environment=os.environ)
        with tempfile.TemporaryDirectory(prefix="charts-") as folder:
            workspace = Path(folder)
            home = workspace / "helm"
            home.mkdir()
            helm = Helm(binary=helm_binary(), home=home)
            yield _Tools(settings=settings, helm=helm, workspace=workspace)
    except OSError as error:
        raise ChartError(one_line(error)) from error


def _is_up_to_date(pins: Path, output: Path) -> bool:
    archive = output / ARCHIVE_NAME
    sources = (pins, pins.with_name("value_checks.yaml"))
    return archive.is_file() and all(
        archive.stat().st_mtime >= source.stat().st_mtime for source in sources if source.exists()
    )


def _package(settings: Settings, *, helm: Helm, workspace: Path, output: Path) -> None:
    started = time.monotonic()
    made = package(settings, helm=helm, workspace=workspace / "package", report=_report)
    if settings.digests == "record":
        found = {
            (item.dependency.name, item.dependency.parent): item.sha256 for item in made.archives
        }
        for change in record_digests(settings.pin_file, digests=found):
            _report(f"recorded in {settings.pin_file}: {change}")
    archive = publish(made, output=output)
    rendered = made.provenance["rendered"]
    _report(
        f"{archive}: {archive.stat().st_size / 1e6:.1f} MB, {len(rendered['objects'])} objects, "
        f"{len(rendered['images'])} images, {time.monotonic() - started:.1f} s"
    )


def _report(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
