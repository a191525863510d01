"""Commands that say what a configuration needs and deploys: `deployer-policy` and `diagram`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile, Templates


@command(iam=["sts:GetCallerIdentity"])
def deployer_policy(
    *,
    config: ConfigFile,
    templates: Templates = None,
    output: Annotated[Path, typer.Option(help="Write the policies into this folder.")] = Path(
        "build/deployer-policy"
    ),
    account: Annotated[
        str | None,
        typer.Option(help="Write them for this account ID. Default: that of the credentials."),
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print this one alone, as JSON.")
    ] = None,
) -> None:
    """Write the least IAM policies that deploy a configuration."""
    from aws_reference.resource_schemas import UnknownTypeError
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.cdk_cli import synthesized
    from hyperpod_cli.inspect.permissions.policies import (
        documents,
        environment_of,
        next_steps,
        policies_of,
        write,
    )
    from hyperpod_cli.terminal.console import print_json
    from hyperpod_cli.terminal.errors import OpsError

    loaded = load_config(config)
    place = environment_of(loaded, account=account)
    with synthesized(config, templates=templates) as folder:
        try:
            policies = policies_of(folder, deployment=loaded.name, environment=place)
        except UnknownTypeError as error:
            raise OpsError(str(error)) from None
        except OSError as error:
            raise OpsError(f"{error}; run `hyperpod-cdk synth` first") from None
    found = dict(documents(policies))
    if document is None:
        write(found, output)
        for line in next_steps(config, loaded.name, policies, place, output):
            typer.echo(line)
    elif document in found:
        print_json(found[document])
    else:
        raise OpsError(f"--document: {document!r} is none of {', '.join(found)}")


@command()
def diagram(
    *,
    config: ConfigFile,
    output: Annotated[
        Path | None,
        typer.Option(help="Write this file, .svg or .png. Default: SVG on standard output."),
    ] = None,
) -> None:
    """Draw what a configuration deploys.

    The picture shows its network, nodes, storage, and who uses them.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.inspect.diagram.picture import picture
    from hyperpod_cli.inspect.diagram.png import png
    from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
    from hyperpod_cli.terminal.errors import OpsError

    if output is not None and output.suffix.lower() not in (".svg", ".png"):
        raise OpsError(f"--output: {str(output)!r} must end with .svg or .png")
    svg = picture(load_config(config))
    if output is None:
        typer.echo(svg, nl=False)
        return
    content = png(svg) if output.suffix.lower() == ".png" else svg.encode()
    try:
        replace_file(output, content, mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"--output: {error}") from None
    typer.echo(f"wrote {output}")
