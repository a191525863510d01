"""`hyperpod-cdk import-eksctl`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command


@command()
def import_eksctl(
    file: Annotated[Path, typer.Argument(help="The eksctl ClusterConfig.")],
    *,
    output: Annotated[
        Path | None, typer.Option(help="The file to write. Default: config/<name>.yaml.")
    ] = None,
) -> int:
    """Write a configuration from an eksctl ClusterConfig, and say what it could not carry.

    Nothing is read from an account, and nothing is changed in one.
    """
    from hyperpod_cli.deliver.eksctl.importing import import_cluster_config

    return import_cluster_config(file, output=output)
