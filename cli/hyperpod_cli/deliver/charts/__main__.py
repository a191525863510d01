"""`python -m hyperpod_cli.deliver.charts package|check`."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from hyperpod_cdk import ConfigError, load_config, load_file
from hyperpod_cdk.helm.chart.chart import HyperPodChartError
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import AccountError, profile_session
from hyperpod_cli.deliver.charts.check import check
from hyperpod_cli.deliver.charts.commands import CommandError
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.fetch import fetch
from hyperpod_cli.deliver.charts.helm import Helm, helm_binary
from hyperpod_cli.deliver.charts.package import package
from hyperpod_cli.deliver.charts.publish import ARCHIVE_NAME, publish
from hyperpod_cli.deliver.charts.record_digests import record_digests
from hyperpod_cli.deliver.charts.settings import Settings, load_settings
from hyperpod_cli.terminal.command_line import exit_with, refused
from stacks.helm_chart import own_chart

_REPOSITORY = Path(__file__).resolve().parents[4]


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code.

    0 done; 1 refused with one line on stderr; 2 a configuration that cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="python -m hyperpod_cli.deliver.charts", description=__doc__
    )
    parser.add_argument("command", choices=["package", "check"])
    parser.add_argument("--pins", type=Path, default=_REPOSITORY / "charts" / "pins.yaml")
    parser.add_argument("--output", type=Path, default=_REPOSITORY / "build" / "charts")
    parser.add_argument(
        "--if-needed-by",
        type=Path,
        metavar="CONFIG",
        help="package only if this configuration names no chart and the package is out of date",
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=_REPOSITORY / "config" / "default.yaml",
        help="check: compare what this configuration installs",
    )
    arguments = parser.parse_args(argv)
    try:
        if arguments.if_needed_by is not None:
            loaded = load_file(arguments.if_needed_by)
            if all(own_chart(each.config) is not None for each in loaded.deployments):
                return 0
            if loaded.pipeline is not None and loaded.pipeline.chart is not None:
                chart, session = loaded.pipeline.chart, profile_session()
                fetch(chart, session=session, output=arguments.output, report=_report)
                return 0
            if _is_up_to_date(arguments.pins, arguments.output):
                return 0
        settings = load_settings(pin_file=arguments.pins, environment=os.environ)
        with tempfile.TemporaryDirectory(prefix="charts-") as folder:
            workspace = Path(folder)
            home = workspace / "helm"
            home.mkdir()
            helm = Helm(binary=helm_binary(), home=home)
            if arguments.command == "package":
                _package(settings, helm=helm, workspace=workspace, output=arguments.output)
            else:
                check(
                    settings,
                    config=load_config(arguments.config),
                    helm=helm,
                    workspace=workspace,
                    output=arguments.output,
                    report=_report,
                )
    except (AccountError, ConfigError, HyperPodChartError) as error:
        return refused(error)
    except (ChartError, CommandError, OSError) as error:
        sys.stderr.write(f"error: {one_line(error)}\n")
        return 1
    return 0


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


if __name__ == "__main__":
    exit_with(main)
