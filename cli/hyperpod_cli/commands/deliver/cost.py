"""`hyperpod-cdk cost` and `dashboards`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import AsJson, ConfigFile


@command(
    iam=[
        "aps:QueryMetrics",
        "cloudformation:DescribeStacks",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
    ]
)
def cost(
    *,
    config: ConfigFile,
    actual: Annotated[
        bool, typer.Option("--actual", help="Say what the nodes were used for, by team.")
    ] = False,
    month: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM", help="Look at this month, with --actual. Default: the present one."
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read with Slurm its records for --actual; - is standard input."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a configuration costs, or what teams have used.

    Prices are AWS's list prices.

    Nothing is asked of AWS without --actual, which needs observability.prometheus, or with Slurm
    cluster.slurm.accounting.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.inspect.actual_cost.command import run
    from hyperpod_cli.inspect.cost import as_json as cost_as_json
    from hyperpod_cli.inspect.cost import cost_here, lines
    from hyperpod_cli.terminal.console import console, print_json, styled
    from hyperpod_cli.terminal.errors import OpsError

    if actual:
        run(config=config, month=month, records=records, as_json=as_json)
        return
    given = {"--month": month, "--records": records}
    for option in (name for name, value in given.items() if value is not None):
        raise OpsError(f"{option}: requires --actual; add it")
    found = cost_here(load_config(config))
    if as_json:
        print_json(cost_as_json(found))
        return
    out = console()
    for line in lines(found, name=str(config)):
        out.print(styled(line))


@command(
    iam=[
        "cloudformation:DescribeStacks",
        "grafana:CreateWorkspaceServiceAccount",
        "grafana:CreateWorkspaceServiceAccountToken",
        "grafana:DeleteWorkspaceServiceAccount",
    ]
)
def dashboards(
    *,
    config: ConfigFile,
    output: Annotated[
        Path,
        typer.Option(help="Write the files into this folder, which is made if it is not there."),
    ] = Path("build/dashboards"),
    grafana: Annotated[
        str | None,
        typer.Option(
            help="Give them to the Grafana at this address, or to `deployed`, the managed one of "
            "the configuration, which gets its data sources too. Default: none."
        ),
    ] = None,
) -> None:
    """Write Grafana's dashboards and Prometheus's rules.

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
