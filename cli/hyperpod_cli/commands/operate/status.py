"""`hyperpod-ops status`."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    AsJson,
    ClusterName,
    ConfigFile,
    Every,
    Region,
)


@command(
    calls=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
        "sagemaker:ListClusterEvents",
        "sagemaker:DescribeClusterEvent",
        "eks:DescribeCluster",
        "eks:ListNodegroups",
        "eks:DescribeNodegroup",
    ],
    in_kubernetes="list nodes",
)
def status(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C.")] = False,
    every: Every = 10,
    nodes: Annotated[bool, typer.Option("--nodes", help="List all nodes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the state of the cluster, its groups and nodes, and EKS node groups.

    Of nodes, those that do not work, and why.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.status import display, snapshot
    from hyperpod_cli.operate.status.display import watch as watched
    from hyperpod_cli.terminal.console import console, print_json
    from hyperpod_cli.terminal.errors import OpsError

    if watch and nodes:
        raise OpsError("--watch: cannot be used with --nodes; run `hyperpod-ops status --nodes`")
    if watch and as_json:
        raise OpsError(
            "--watch: cannot be used with --json; run `hyperpod-ops status --json` again"
        )
    chosen = chosen_cluster(config, cluster=cluster, region=region)
    if watch:
        watched(chosen, console=console(), seconds=every)
        return
    found = snapshot.snapshot(chosen, now=datetime.now(UTC))
    if as_json:
        print_json(asdict(found))
    else:
        console().print(display.display(found, every_node=nodes))
