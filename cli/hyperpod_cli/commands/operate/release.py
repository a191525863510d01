"""`hyperpod-ops release`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ClusterName, ConfigFile, Region, Yes


@command(
    calls=["sagemaker:DescribeCluster", "eks:DescribeCluster"],
    in_kubernetes="list and patch nodes",
)
def release(
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Instance ID.")],
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    yes: Yes = False,
) -> None:
    """Take nodes out of the quarantine that recurring health checks put them into.

    Shows why they are there, and asks.
    """
    from hyperpod_cli.operate.nodes.quarantine import run

    run(nodes, config=config, cluster=cluster, region=region, yes=yes)
