"""`hyperpod-cdk image build`."""

from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Every


@command(
    calls=[
        "cloudformation:DescribeStacks",
        "codebuild:BatchGetBuilds",
        "codebuild:StartBuild",
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:CompleteLayerUpload",
        "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
        "ecr:InitiateLayerUpload",
        "ecr:PutImage",
        "ecr:UploadLayerPart",
        "logs:GetLogEvents",
    ]
)
def image(
    action: Annotated[Literal["build"], typer.Argument(help="What to do.")],
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    docker: Annotated[
        bool, typer.Option("--docker", help="Build with Docker on this machine.")
    ] = False,
    every: Every = 5,
) -> None:
    """Build the images that jobs train in, and print their digests.

    CodeBuild builds them, or Docker. An image whose files have not changed is not built again.
    """
    import time

    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.deliver import training_images as work

    assert action == "build"  # noqa: S101 - typer takes no other
    loaded = load_config(config)
    found = work.training_images(loaded, path=config, session=aws_session(config=loaded))
    if docker:
        work.build_with_docker(found, say=typer.echo)
    elif found.missing():
        found.refuse_changed()
        work.build_on_codebuild(found, say=typer.echo, sleep=time.sleep, every=every)
    for line in found.lines():
        typer.echo(line)
