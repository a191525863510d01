"""Commands that run jobs, or simulate them: `quota`, `train` and `validate-nodes`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.operate.job_options import Given, Options, QuotaOptions

if TYPE_CHECKING:  # it imports boto3, which takes long
    from hyperpod_cli.operate.clusters import Chosen


@command()
def quota(
    action: Annotated[  # noqa: ARG001 - says what to do, and there is one thing
        Literal["simulate"], typer.Argument(metavar="simulate", help="What to do with quotas.")
    ],
    *,
    options: QuotaOptions,
) -> None:
    """Simulate how team quotas affect a list of jobs.

    Shows which jobs would wait, borrow or be preempted, what would be idle, and what that costs.
    """
    from hyperpod_cli.operate.quotas.command import run

    run(options)


@command(
    calls=["cloudformation:DescribeStacks", "ecr:DescribeImages", "eks:DescribeCluster"],
    in_kubernetes="list nodes and pods; of a namespace, read a job's pods and logs, create and "
    "delete PyTorchJobs",
)
def train(*, given: Given) -> None:
    """Submit a training job, and follow it; or stop one. With Slurm: print a job that fits.

    Shows what it submits and what its nodes cost an hour. Ctrl-C leaves the job running.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cdk.schema.section import EKS, SLURM
    from hyperpod_cli.operate import batch_jobs
    from hyperpod_cli.operate.training import command as charted_jobs

    jobs = {EKS: charted_jobs, SLURM: batch_jobs}[load_config(given.config).cluster.orchestrator]
    (jobs.stop if given.stop else jobs.run)(given)


@command(
    calls=["sagemaker:DescribeCluster", "eks:DescribeCluster", "cloudformation:DescribeStacks"],
    in_kubernetes="list nodes and pods, read namespaces and claims, create and delete jobs",
)
def validate_nodes(*, chosen: "Chosen", options: Options) -> None:
    """Show what each node and each pair of nodes can do.

    Devices, EFA, NCCL, the file system, a rendezvous. Only idle nodes are taken.
    """
    from hyperpod_cli.operate.validation.command import run

    run(options, chosen)
