"""`hyperpod-cdk dashboards`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(
    calls=[
        "cloudformation:DescribeStacks",
        "grafana:CreateWorkspaceServiceAccount",
        "grafana:CreateWorkspaceServiceAccountToken",
        "grafana:DeleteWorkspaceServiceAccount",
    ]
)
def dashboards(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    output: Annotated[
        Path, typer.Option(help="Folder for the files, which is made if it is not there.")
    ] = Path("build/dashboards"),
    grafana: Annotated[
        str | None,
        typer.Option(
            help="Address of a Grafana that is to have them, or `deployed` for the managed one of "
            "the configuration, which gets its data sources too. Default: none."
        ),
    ] = None,
) -> None:
    """Write the dashboards of Grafana and the rules of Prometheus.

    A Grafana in AWS gets them by a token that is valid for five minutes; any other by the token in
    GRAFANA_TOKEN.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.deliver.grafana import DEPLOYED, deployed, files, host_of, push, write

    loaded = load_config(config)
    rendered = files(loaded)
    url, sources = deployed(loaded) if grafana == DEPLOYED else (grafana, [])
    if url is not None:
        host_of(url)
    write(rendered, folder=output)
    for name in rendered:
        typer.echo(f"wrote {output / name}")
    if url is not None:
        for address in push(rendered, url=url, sources=sources):
            typer.echo(address)
