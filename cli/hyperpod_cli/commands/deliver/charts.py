"""`hyperpod-cdk charts` and `charts-check`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile

Pins = Annotated[Path, typer.Option(help="File with what is pinned.")]
Output = Annotated[Path, typer.Option(help="Folder of the package.")]
_PINS = Path("charts/pins.yaml")
_OUTPUT = Path("build/charts")


@command(calls=["s3:GetObject"])
def charts(
    *,
    pins: Pins = _PINS,
    output: Output = _OUTPUT,
    if_needed_by: Annotated[
        Path | None,
        typer.Option(
            metavar="CONFIG",
            help="Package only if this configuration names no chart and the package is old.",
        ),
    ] = None,
) -> None:
    """Package the official HyperPod Helm chart.

    It needs git and the network.
    """
    from hyperpod_cli.deliver.charts.command import package_chart, package_if_needed

    if if_needed_by is None:
        package_chart(pins=pins, output=output)
    else:
        package_if_needed(if_needed_by, pins=pins, output=output)


@command()
def charts_check(
    *, config: ConfigFile = DEFAULT_CONFIG, pins: Pins = _PINS, output: Output = _OUTPUT
) -> None:
    """Report newer charts upstream, and what they would change."""
    from hyperpod_cli.deliver.charts.command import check_charts

    check_charts(config, pins=pins, output=output)
