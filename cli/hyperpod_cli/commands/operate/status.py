"""Commands that look at clusters: `events`, `idle`, `list`, `logs` and `status`."""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.operate.events.faults import Level
from hyperpod_cli.terminal.options import (
    AsJson,
    ClusterName,
    ConfigIfAny,
    Every,
    NodeName,
    Region,
    group_names,
)


@command(
    iam=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterEvents",
        "sagemaker:DescribeClusterEvent",
    ]
)
def events(
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    since: Annotated[str, typer.Option("--since", help="Go so far back: 30m, 6h or 2d.")] = "1d",
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="Show this instance group alone. Default: all.",
            autocompletion=group_names,
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option("--level", case_sensitive=False, help="Show no lower level than this.")
    ] = Level.INFO,
    as_json: AsJson = False,
) -> None:
    """Show what happened to the cluster, why, and what to do.

    The newest event comes first.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.events.history import event_lines, events_of
    from hyperpod_cli.terminal.console import console, parsed_duration, print_json

    age = parsed_duration(since, option="--since")
    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.cluster()
    if group is not None:
        found.group(group)
    told = events_of(
        chosen.sagemaker, found, since=datetime.now(UTC) - age, least=level, group=group
    )
    if as_json:
        print_json(told)
        return
    out = console()
    for event in told:
        for line in event_lines(event):
            out.print(line)
    if not found.is_continuous:
        out.print("HyperPod keeps events only of clusters with node_provisioning_mode: Continuous.")
    elif not told:
        out.print("There are no such events.")


@command(
    iam=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes", "eks:DescribeCluster"],
    in_kubernetes="list pods",
)
def idle(
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    sinfo: Annotated[
        Path | None,
        typer.Option(
            "--sinfo",
            help="Read with Slurm what sinfo printed from this file; - is standard input.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show groups whose accelerators nothing uses.

    It says what they cost, and how to end that.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.idle import run

    run(chosen_cluster(config, cluster=cluster, region=region), sinfo=sinfo, as_json=as_json)


@command(name="list", iam=["sagemaker:ListClusters", "sagemaker:ListTags"])
def list_clusters(
    *, config: ConfigIfAny = None, region: Region = None, as_json: AsJson = False
) -> None:
    """List the HyperPod clusters of a region.

    They are those that CloudFormation stacks made. The region is that of --region, else the
    configuration's or the environment's.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.operate.clusters import own_clusters
    from hyperpod_cli.terminal.configuration import only_config
    from hyperpod_cli.terminal.console import shown
    from hyperpod_cli.terminal.errors import OpsError

    if config is None and region is None:
        # Without a configuration, it is the environment's region.
        with suppress(OpsError):
            config = only_config()
    loaded = load_config(config) if config is not None and region is None else None
    session = aws_session(region=region, config=loaded)
    nothing = "No cluster of a stack that you may look at is in this region."
    shown(own_clusters(session.client("sagemaker")), as_json=as_json, empty=nothing)


@command(
    iam=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
        "logs:GetLogEvents",
        "logs:DescribeLogStreams",
    ]
)
def logs(
    node: NodeName,
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with lines that come, until Ctrl-C.")
    ] = False,
    every: Every = 3,
) -> None:
    """Show what the lifecycle scripts of a node wrote.

    At the end it says what they were doing last. An instance that is gone is named by its ID.
    For logs of pods: kubectl logs, and of pods that are gone, the page run-a-job of the docs.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster, nodes_of
    from hyperpod_cli.operate.logs import LifecycleLog, former_instance, progress_of
    from hyperpod_cli.operate.nodes.named import named_nodes

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.cluster()
    nodes = nodes_of(chosen.sagemaker, found.name)
    client = chosen.session.client("logs")
    instance = node.removeprefix("hyperpod-")
    log = None
    if instance.startswith("i-") and all(each.id != instance for each in nodes):
        log = former_instance(client, found, instance)
    if log is not None:
        whose = f"{log.instance_group} ({instance}), gone"
    else:
        (named,) = named_nodes(nodes, [node], cluster=found)
        whose = f"{named}, {named.node.status}"
        log = LifecycleLog(
            logs=client, cluster=found, instance=named.node.id, instance_group=named.node.group
        )
    say = partial(typer.echo, err=True)
    lines = log.lines(say=say, every_seconds=every if follow else None)
    seen = []
    try:
        for time_of_line, text in lines:
            seen.append(text)
            typer.echo(f"{time_of_line} {text}")
    finally:
        # On standard error, because the log may go to a file; also after Ctrl-C.
        if seen:
            say(f"{whose}: {progress_of(seen)}")


@command(
    iam=[
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
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C.")] = False,
    every: Every = 10,
    nodes: Annotated[bool, typer.Option("--nodes", help="List all nodes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the state of the cluster, its groups and nodes.

    EKS node groups are shown, too, and those nodes that do not work, with the reason.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.status import display, snapshot
    from hyperpod_cli.operate.status.display import watch as watched
    from hyperpod_cli.terminal.console import console, print_json
    from hyperpod_cli.terminal.errors import OpsError

    if watch and nodes:
        raise OpsError("--watch: cannot be used with --nodes; run `hyperpod-cdk status --nodes`")
    if watch and as_json:
        raise OpsError(
            "--watch: cannot be used with --json; run `hyperpod-cdk status --json` again"
        )
    chosen = chosen_cluster(config, cluster=cluster, region=region)
    if watch:
        watched(chosen, console=console(), seconds=every)
        return
    found = snapshot.snapshot(chosen, now=datetime.now(UTC))
    if as_json:
        print_json(found)
    else:
        console().print(display.display(found, every_node=nodes))
