"""`hyperpod-cdk cost`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, AsJson, ConfigFile


@command(calls=["aps:QueryMetrics", "cloudformation:DescribeStacks", "sagemaker:DescribeCluster"])
def cost(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    actual: Annotated[
        bool, typer.Option("--actual", help="What the nodes were used for, by team.")
    ] = False,
    month: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Month of --actual. Default: this one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a configuration costs at AWS's list prices, or what teams have used.

    --actual needs observability.prometheus; without it, nothing is asked of AWS.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.inspect.actual_cost.command import run
    from hyperpod_cli.inspect.cost import cost_here, lines
    from hyperpod_cli.terminal.errors import OpsError

    if actual:
        run(config=config, month=month, as_json=as_json)
        return
    if month is not None or as_json:
        option = "--month" if month is not None else "--json"
        raise OpsError(f"{option}: belongs to --actual, which is missing")
    for line in lines(cost_here(load_config(config)), name=str(config)):
        typer.echo(line)
