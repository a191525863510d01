"""`hyperpod-cdk train`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Every, Region, Yes


@command(
    calls=["cloudformation:DescribeStacks", "ecr:DescribeImages", "eks:DescribeCluster"],
    in_kubernetes="list nodes and pods; of a namespace, read a job's pods and logs, create and "
    "delete PyTorchJobs",
)
def train(
    *,
    values: Annotated[
        list[str] | None,
        typer.Option("--values", "-f", help="File of values, or one of the chart's by its name."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the job.")] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Default: the first claim's.")
    ] = None,
    group: Annotated[str | None, typer.Option("--group", help="Instance group.")] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, help="How many nodes.")] = None,
    team: Annotated[
        str | None, typer.Option("--team", help="Team of task governance, whose queue it takes.")
    ] = None,
    priority: Annotated[
        str | None, typer.Option("--priority", help="One of governance.priority_classes.")
    ] = None,
    image: Annotated[str | None, typer.Option("--image", help="Container image.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A value, as helm's.")
    ] = None,
    config: ConfigFile = DEFAULT_CONFIG,
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
    """Submit a training job, and follow it; or stop one. With Slurm: print a job that fits.

    Shows what it submits and what its nodes cost an hour. Ctrl-C leaves the job running.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cdk.schema.section import EKS, SLURM
    from hyperpod_cli.operate import batch_jobs
    from hyperpod_cli.operate.training import command as charted_jobs
    from hyperpod_cli.operate.training.request import Given

    jobs = {EKS: charted_jobs, SLURM: batch_jobs}[load_config(config).cluster.orchestrator]
    given = Given(
        files=values or (),
        settings=settings or (),
        name=name,
        namespace=namespace,
        image=image,
        nodes=nodes,
        group=group,
        team=team,
        priority=priority,
    )
    if stop:
        jobs.stop(name, namespace=given.namespace_of_job, config=config, region=region, yes=yes)
        return
    jobs.run(
        given,
        config=config,
        region=region,
        yes=yes,
        dry_run=dry_run,
        follow=follow,
        every=every,
    )
