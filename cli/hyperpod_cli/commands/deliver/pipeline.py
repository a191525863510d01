"""`hyperpod-cdk pipeline` and `review`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import PipelineFile, Yes


@command(
    iam=["codeconnections:GetConnection", "ssm:GetParameter", "sts:GetCallerIdentity"],
)
def pipeline(
    *,
    config: PipelineFile,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether it can be created.")
    ] = False,
    yes: Yes = False,
) -> int:
    """Create or change the pipeline for the environments."""
    from hyperpod_cli.aws.cdk_cli import cdk_alone
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.pipeline.connection import require_creatable
    from hyperpod_cli.terminal.console import require_terminal

    require_creatable(config)
    if check:
        return 0
    require_terminal(yes=yes)
    package_if_needed(config)
    app = ("--output", "cdk.out/pipeline", "-c", f"config={config}")
    # What it shows is what a push may not do by itself.
    asks = "never" if yes else "any-change"
    return cdk_alone(*app, "deploy", "*-pipeline", "--require-approval", asks)


@command(iam=["sts:AssumeRole", "sts:GetCallerIdentity"])
def review(
    *,
    assembly: Annotated[
        Path,
        typer.Argument(
            metavar="ASSEMBLY", help="Compare this, which the pipeline's synthesis wrote."
        ),
    ],
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="Write the differences into this folder.")
    ],
    config: Annotated[Path, typer.Option(help="Read this configuration of the pipeline.")],
    environment: Annotated[str, typer.Option(help="Compare the environment of this name.")],
    rehearse_change: Annotated[
        bool, typer.Option("--rehearse-change", help="Rehearse the change, too.")
    ] = False,
) -> None:
    """Compare an environment with what is deployed.

    The builds of a pipeline run it. It reads with the role of `cdk bootstrap` that the pipeline's
    account may assume.
    """
    import boto3

    from hyperpod_cdk import load_file
    from hyperpod_cli.deliver.pipeline import review as reviewing

    judged, differences = reviewing.review(
        load_file(config),
        environment=environment,
        assembly=assembly,
        session=boto3.Session(),
        rehearses=rehearse_change,
    )
    reviewing.write_review(judged, differences=differences, folder=output)
    typer.echo(differences)
    typer.echo(judged)
