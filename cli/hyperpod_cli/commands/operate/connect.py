"""`hyperpod-ops connect`."""

import os
import shlex
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ClusterName, ConfigFile, NodeName, Region


@command(calls=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes"])
def connect(
    node: NodeName,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the command; run nothing.")
    ] = False,
) -> None:
    """Open a shell on a node, with Session Manager."""
    from hyperpod_cli.operate.clusters import chosen_cluster, nodes_of
    from hyperpod_cli.operate.connections import require_tools, session_command
    from hyperpod_cli.operate.nodes.named import named_nodes

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.found()
    nodes = nodes_of(chosen.sagemaker, found.name)
    (named,) = named_nodes(nodes, [node], cluster=found.name, groups=found.groups)
    command = session_command(found, named.node, region=chosen.session.region)
    if only_print:
        typer.echo(shlex.join(command))
        return
    require_tools()
    # Replaces this process, so that Ctrl-C and window sizes go to the session.
    os.execvp(command[0], command)  # noqa: S606 - a command of fixed form, without a shell
