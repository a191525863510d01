"""`hyperpod-ops events`."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.operate.events.faults import Level
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    AsJson,
    ClusterName,
    ConfigFile,
    Region,
    group_names,
)


@command(
    calls=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterEvents",
        "sagemaker:DescribeClusterEvent",
    ]
)
def events(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    since: Annotated[str, typer.Option("--since", help="How far back: 30m, 6h or 2d.")] = "1d",
    group: Annotated[
        str | None,
        typer.Option(
            "--group", help="An instance group. Default: all.", autocompletion=group_names
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option("--level", case_sensitive=False, help="The lowest level.")
    ] = Level.INFO,
    as_json: AsJson = False,
) -> None:
    """Show what happened to the cluster, why, and what to do.

    Newest first.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.events.history import event_lines, events_of
    from hyperpod_cli.terminal.console import console, parsed_duration, print_json

    age = parsed_duration(since, option="--since")
    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.found()
    if group is not None:
        found.group(group)
    told = events_of(
        chosen.sagemaker, found, since=datetime.now(UTC) - age, least=level, group=group
    )
    if as_json:
        print_json([asdict(event) for event in told])
        return
    out = console()
    for event in told:
        for line in event_lines(event):
            out.print(line)
    if not found.is_continuous:
        out.print("HyperPod keeps events only of clusters with node_provisioning_mode: Continuous.")
    elif not told:
        out.print("There are no such events.")
