"""`hyperpod-ops idle`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    AsJson,
    ClusterName,
    ConfigFile,
    Region,
)


@command(
    calls=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes", "eks:DescribeCluster"],
    in_kubernetes="list pods",
)
def idle(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    sinfo: Annotated[
        Path | None,
        typer.Option("--sinfo", help="With Slurm: what sinfo printed; - for standard input."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show groups whose accelerators nothing has, what they cost, and how to end that."""
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.idle import run

    run(chosen_cluster(config, cluster=cluster, region=region), sinfo=sinfo, as_json=as_json)
