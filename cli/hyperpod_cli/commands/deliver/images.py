"""`hyperpod-cdk image build` and `images`."""

from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile, Every


@command(
    iam=[
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
    action: Annotated[  # noqa: ARG001 - says what to do, and there is one thing
        Literal["build"], typer.Argument(metavar="build", help="There is this one action.")
    ],
    *,
    config: ConfigFile,
    docker: Annotated[
        bool, typer.Option("--docker", help="Build with Docker on this machine.")
    ] = False,
    every: Every = 5,
) -> None:
    """Build the images that jobs train in.

    It prints their digests. CodeBuild builds them, or Docker. An image whose files have not
    changed is not built again.
    """
    import time

    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.deliver import training_images as work

    loaded = load_config(config)
    found = work.training_images(loaded, path=config, session=aws_session(config=loaded))
    if docker:
        work.build_with_docker(found, say=typer.echo)
    elif found.missing():
        found.refuse_changed()
        work.build_on_codebuild(found, say=typer.echo, sleep=time.sleep, every=every)
    for line in found.lines():
        typer.echo(line)


@command(
    iam=[
        "ecr:GetAuthorizationToken",
        "ecr:DescribeImages",
        "ecr:CreateRepository",
    ]
)
def images(
    *,
    config: ConfigFile,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Refuse a closed network with an image that it cannot pull; say nothing else.",
        ),
    ] = False,
    digests: Annotated[
        bool, typer.Option("--digests", help="Ask the registries for digests.")
    ] = False,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Copy images to helm.image_registry.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the commands.")] = False,
) -> None:
    """List, check or mirror the container images."""
    from botocore.exceptions import BotoCoreError, ClientError

    from hyperpod_cdk import ConfigError, load_config
    from hyperpod_cli.deliver import images as work
    from hyperpod_cli.terminal.errors import FailedError

    if check:
        work.refuse_unreachable(config)
        return
    loaded = load_config(config)
    found = work.images_of(loaded, path=config)
    if not mirror:
        digest = work.digest if digests else None
        for line in work.lines(loaded, images=found, digest=digest):
            typer.echo(line)
    elif loaded.control_plane is not None and loaded.helm.image_registry is None:
        message = "helm.image_registry: null names no registry to mirror images into; set it"
        raise ConfigError([f"{config}: {message}"])
    elif dry_run:
        for line in work.commands(found):
            typer.echo(line)
    else:
        try:
            work.mirror(found, report=typer.echo)
        except (BotoCoreError, ClientError) as error:
            raise FailedError(str(error)) from None
