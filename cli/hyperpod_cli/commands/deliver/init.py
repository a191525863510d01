"""`hyperpod-cdk init`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command


@command(calls=["ec2:DescribeAvailabilityZones"])
def init(
    *,
    config: Annotated[
        Path | None, typer.Option(help="The file to write. Default: config/<name>.yaml.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the deployment.")] = None,
    region: Annotated[str | None, typer.Option(help="AWS region.")] = None,
    zones: Annotated[str | None, typer.Option(help="Zones, the nodes' first.")] = None,
    instance_type: Annotated[str | None, typer.Option("--type", help="Instance type.")] = None,
    count: Annotated[str | None, typer.Option(help="Number of instances.")] = None,
    storage: Annotated[str | None, typer.Option(help="GiB of FSx for Lustre, or none.")] = None,
    orchestrator: Annotated[str, typer.Option(help="What runs jobs: eks or slurm.")] = "eks",
) -> int:
    """Write a configuration from a few answers.

    Ask for those that are missing, and say what it deploys and costs. Credentials are used only
    for zones that are given by name.
    """
    from hyperpod_cli.deliver.init.dialogue import write_configuration

    given = {
        "NAME": name,
        "REGION": region,
        "ZONES": zones,
        "TYPE": instance_type,
        "COUNT": count,
        "STORAGE": storage,
    }
    return write_configuration(given, config=config, orchestrator=orchestrator)
