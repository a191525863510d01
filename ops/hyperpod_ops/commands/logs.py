"""`hyperpod-ops logs`."""

import time
from typing import Annotated

import typer

from hyperpod_ops.options import DEFAULT_CONFIG, ClusterName, ConfigFile, Every, NodeName, Region


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

    And what they were doing last.
    """
    from hyperpod_ops.clusters.chosen import chosen_cluster
    from hyperpod_ops.clusters.cluster import nodes_of
    from hyperpod_ops.logs.lifecycle_log import LifecycleLog
    from hyperpod_ops.logs.progress import progress_of
    from hyperpod_ops.nodes.named import named_nodes

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.found()
    (named,) = named_nodes(nodes_of(chosen.sagemaker, found.name), [node], cluster=found.name)
    client = chosen.session.client("logs")
    log = LifecycleLog(logs=client, cluster=found, node=named.node)
    lines = log.follow(seconds=every, sleep=time.sleep) if follow else log.lines()
    seen = []
    try:
        for line in lines:
            seen.append(line.text)
            typer.echo(f"{line.time} {line.text}")
    finally:
        # On standard error, because the log may go to a file; also after Ctrl-C.
        if seen:
            typer.echo(f"{named}, {named.node.status}: {progress_of(seen)}", err=True)
