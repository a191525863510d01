"""Commands that run jobs, or simulate them: `quota`, `train` and `validate-nodes`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    AsJson,
    ClusterName,
    ConfigFile,
    ConfigIfAny,
    Every,
    Region,
    Yes,
    group_names,
)


@command()
def quota(
    action: Annotated[  # noqa: ARG001 - says what to do, and there is one thing
        Literal["simulate"], typer.Argument(metavar="simulate", help="There is this one action.")
    ],
    *,
    jobs: Annotated[
        Path,
        typer.Option(metavar="CSV", help="Simulate these jobs: a line each (docs: governance)."),
    ],
    config: ConfigFile,
    proposed: Annotated[
        Path | None,
        typer.Option(metavar="CONFIG", help="Compare a configuration with other quotas."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Draw who uses the nodes into this file.")
    ] = None,
    checkpoint_minutes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Let jobs save where they are so often. Default: they begin again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate how team quotas affect a list of jobs.

    It shows which jobs would wait, borrow or be preempted, what would be idle, and what that costs.
    """
    from hyperpod_cli.operate.quotas.command import run

    run(
        jobs=jobs,
        config=config,
        proposed=proposed,
        picture=picture,
        checkpoint_minutes=checkpoint_minutes,
        as_json=as_json,
    )


@command(
    iam=["cloudformation:DescribeStacks", "ecr:DescribeImages", "eks:DescribeCluster"],
    in_kubernetes="list nodes and pods; of a namespace, read a job's pods, events and logs, "
    "create and delete PyTorchJobs and network policies, create Secrets",
)
def train(
    *,
    config: ConfigFile,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--values", "-f", help="Take a file of values, or one of the chart's by its name."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name the job.")] = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="Use this namespace. Default: the first claim's."),
    ] = None,
    group: Annotated[str | None, typer.Option("--group", help="Use this instance group.")] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, help="Use so many nodes.")] = None,
    team: Annotated[
        str | None,
        typer.Option(
            "--team",
            help="Run as this team, in its queue if it has a quota.",
        ),
    ] = None,
    priority: Annotated[
        str | None, typer.Option("--priority", help="Take one of governance.priority_classes.")
    ] = None,
    image: Annotated[str | None, typer.Option("--image", help="Use this container image.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a value of the chart, as helm does."),
    ] = None,
    region: Region = None,
    yes: Yes = False,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for the job's end.")
    ] = True,
    every: Every = 5,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check only, and print the values that the job also gets."),
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Delete the job of --name.")] = False,
) -> None:
    """Submit a training job, and follow it; or stop one.

    It shows what it submits and what its nodes cost an hour. Ctrl-C leaves the job running. With
    Slurm, it prints a job that fits.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cdk.schema.section import EKS, SLURM
    from hyperpod_cli.operate import batch_jobs
    from hyperpod_cli.operate.job_options import Given
    from hyperpod_cli.operate.training import command as charted_jobs

    given = Given(
        config=config,
        files=files or [],
        name=name,
        namespace=namespace,
        group=group,
        nodes=nodes,
        team=team,
        priority=priority,
        image=image,
        settings=settings or [],
        region=region,
        yes=yes,
        follow=follow,
        every=every,
        dry_run=dry_run,
        stop=stop,
    )
    jobs = {EKS: charted_jobs, SLURM: batch_jobs}[load_config(config).cluster.orchestrator]
    (jobs.stop if stop else jobs.run)(given)


@command(
    iam=["sagemaker:DescribeCluster", "eks:DescribeCluster", "cloudformation:DescribeStacks"],
    in_kubernetes="list nodes, pods and events, read namespaces and claims, create and delete jobs "
    "and network policies",
)
def validate_nodes(
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="Test this instance group alone. Default: all with GPUs or Trainium.",
            autocompletion=group_names,
        ),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check",
            help="One of node, fabric, storage, rendezvous; may be repeated. Default: all.",
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Run the jobs in this namespace.")
    ] = ("default"),
    claim: Annotated[str, typer.Option("--claim", help="Measure this volume claim.")] = (
        "fsx-claim"
    ),
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Use this image. Default: AWS's nccl-tests, and your training image."
        ),
    ] = None,
    include_busy: Annotated[
        bool, typer.Option("--include-busy", help="Wait for nodes that run jobs, too.")
    ] = False,
    timeout_minutes: Annotated[
        int, typer.Option("--timeout", min=1, help="Give a job up after so many minutes.")
    ] = 30,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what an interrupted run has found.")
    ] = False,
    json: Annotated[Path | None, typer.Option("--json", help="Write JSON to a file.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit's XML to a file.")] = (
        None
    ),
    every_seconds: Every = 5,
) -> None:
    """Show what each node and each pair of nodes can do.

    It tests devices, EFA, NCCL, the file system and a rendezvous. Only idle nodes are taken.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.job_options import Options
    from hyperpod_cli.operate.validation.command import run

    options = Options(
        group=group,
        check=check or [],
        namespace=namespace,
        claim=claim,
        image=image,
        include_busy=include_busy,
        timeout_minutes=timeout_minutes,
        fresh=fresh,
        json=json,
        junit=junit,
        every_seconds=every_seconds,
    )
    run(options, chosen_cluster(config, cluster=cluster, region=region))
