"""`hyperpod-cdk deletion-check`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(
    calls=["cloudformation:DescribeStacks", "eks:DescribeCluster"],
    in_kubernetes="list the objects of users",
)
def deletion_check(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Go on where it cannot look, and say so.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="All stacks are to be deleted.")
    ] = False,
) -> None:
    """Say what users would lose by a deletion."""
    from hyperpod_cli.deliver.deletion_check import refuse_deletion

    refuse_deletion(config, everything=everything, unchecked=unchecked)
