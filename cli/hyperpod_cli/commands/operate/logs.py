"""`hyperpod-ops logs`."""

import time
from functools import partial
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    ClusterName,
    ConfigFile,
    Every,
    NodeName,
    Region,
)


@command(
    calls=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
        "logs:GetLogEvents",
        "logs:DescribeLogStreams",
    ]
)
def logs(
    node: NodeName,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with lines that come, until Ctrl-C.")
    ] = False,
    every: Every = 3,
) -> None:
    """Show what the lifecycle scripts of a node wrote.

    And what they were doing last. An instance that is gone is named by its ID.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster, nodes_of
    from hyperpod_cli.operate.logs import LifecycleLog, former_instance, progress_of
    from hyperpod_cli.operate.nodes.named import named_nodes

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.found()
    nodes = nodes_of(chosen.sagemaker, found.name)
    client = chosen.session.client("logs")
    instance = node.removeprefix("hyperpod-")
    log = None
    if instance.startswith("i-") and all(each.id != instance for each in nodes):
        log = former_instance(client, found, instance)
    if log is not None:
        whose = f"{log.instance_group} ({instance}), gone"
    else:
        (named,) = named_nodes(nodes, [node], cluster=found.name, groups=found.groups)
        whose = f"{named}, {named.node.status}"
        log = LifecycleLog(
            logs=client, cluster=found, instance=named.node.id, instance_group=named.node.group
        )
    say = partial(typer.echo, err=True)
    lines = log.follow(seconds=every, sleep=time.sleep, waiting=say) if follow else log.lines()
    seen = []
    try:
        for time_of_line, text in lines:
            seen.append(text)
            typer.echo(f"{time_of_line} {text}")
    finally:
        # On standard error, because the log may go to a file; also after Ctrl-C.
        if seen:
            say(f"{whose}: {progress_of(seen)}")
