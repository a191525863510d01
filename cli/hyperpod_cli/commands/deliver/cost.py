"""`hyperpod-cdk cost`."""

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command()
def cost(*, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Say what a configuration costs at AWS's list prices."""
    from hyperpod_cdk import load_config
    from hyperpod_cli.inspect.cost import cost_here, lines

    for line in lines(cost_here(load_config(config)), name=str(config)):
        typer.echo(line)
