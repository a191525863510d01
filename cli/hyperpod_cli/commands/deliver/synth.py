"""`hyperpod-cdk synth`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command()
def synth(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder to write. Default: one in cdk.out, named as the configuration."),
    ] = None,
) -> int:
    """Write the CloudFormation templates."""
    from hyperpod_cli.aws.cdk_cli import cdk, templates_folder

    code = cdk("synth", "--quiet", config=config, output=output)
    if code == 0:
        for path in sorted((output or templates_folder(config)).glob("*.template.json")):
            typer.echo(path)
    return code
