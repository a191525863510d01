"""Commands that take a configuration alone: `synth` and `validate`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import AsJson, ConfigFile


@command()
def synth(
    *,
    config: ConfigFile,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Write this folder. Default: one in cdk.out, named as the configuration."
        ),
    ] = None,
) -> int:
    """Write the CloudFormation templates."""
    from hyperpod_cdk import load_file
    from hyperpod_cli.aws.cdk_cli import cdk, templates_folder

    load_file(config)  # It is refused in the words of the file alone.
    code = cdk("synth", "--quiet", config=config, output=output)
    if code == 0:
        for path in sorted((output or templates_folder(config)).glob("*.template.json")):
            typer.echo(path)
    return code


@command()
def validate(*, config: ConfigFile, as_json: AsJson = False) -> int | None:
    """Check a configuration, and say what it deploys."""
    from hyperpod_cdk import ConfigError
    from hyperpod_cli.deliver.validation import refusal_as_json, validation
    from hyperpod_cli.inspect.cost import summary
    from hyperpod_cli.terminal.console import print_json
    from hyperpod_cli.terminal.errors import REFUSED

    try:
        found = validation(config)
    except ConfigError as error:
        if not as_json:
            raise
        print_json(refusal_as_json(config, error))
        return REFUSED
    if as_json:
        print_json(found.as_json())
        return None
    typer.echo(f"{config} is valid. It deploys:")
    for line in found.stacks:
        typer.echo(f"  {line}")
    typer.echo(summary(found.cost))
    for warning in found.warnings:
        typer.echo(f"WARNING {warning}")
    return None
