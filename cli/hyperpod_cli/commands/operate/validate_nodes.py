"""`hyperpod-ops validate-nodes`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    ClusterName,
    ConfigFile,
    Every,
    Region,
    group_names,
)


@command(
    calls=["sagemaker:DescribeCluster", "eks:DescribeCluster", "cloudformation:DescribeStacks"],
    in_kubernetes="list nodes and pods, read namespaces and claims, create and delete jobs",
)
def validate_nodes(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="An instance group. Default: all with GPUs or Trainium.",
            autocompletion=group_names,
        ),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check", help="node, fabric, storage or rendezvous; several times. Default: all."
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Where the jobs run.")
    ] = "default",
    claim: Annotated[
        str, typer.Option("--claim", help="The volume claim that is measured.")
    ] = "fsx-claim",
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Image of the jobs. Default: AWS's nccl-tests, and your training image."
        ),
    ] = None,
    include_busy: Annotated[
        bool, typer.Option("--include-busy", help="Wait for nodes that run jobs, too.")
    ] = False,
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, help="Minutes until a job is given up.")
    ] = 30,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what an interrupted run has found.")
    ] = False,
    json: Annotated[Path | None, typer.Option("--json", help="Write JSON to a file.")] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit's XML to a file.")
    ] = None,
    every: Every = 5,
) -> None:
    """Show what each node and each pair of nodes can do.

    Devices, EFA, NCCL, the file system, a rendezvous. Only idle nodes are taken.
    """
    from hyperpod_cli.operate.validation.command import run
    from hyperpod_cli.operate.validation.request import CHECKS, Options

    options = Options(
        group=group,
        checks=check or CHECKS,
        namespace=namespace,
        claim=claim,
        image=image,
        include_busy=include_busy,
        timeout_minutes=timeout,
        fresh=fresh,
        json=json,
        junit=junit,
        every_seconds=every,
    )
    run(options, config=config, cluster=cluster, region=region)
