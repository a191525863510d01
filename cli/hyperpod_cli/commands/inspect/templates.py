"""Commands that read templates: `deployer-policy` and `diagram`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile, Templates


@command(iam=["sts:GetCallerIdentity"])
def deployer_policy(
    *,
    config: ConfigFile,
    templates: Templates = None,
    output: Annotated[Path, typer.Option(help="Folder that the policies are written to.")] = Path(
        "build/deployer-policy"
    ),
    account: Annotated[
        str | None, typer.Option(help="Account ID. Default: that of the credentials.")
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
    templates: Templates = None,
    file_format: Annotated[
        Literal["svg", "png", "mermaid"] | None,
        typer.Option("--format", help="Default: that of the file's suffix, else svg."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write. Default: standard output.")
    ] = None,
) -> None:
    """Draw what a configuration deploys.

    From its CloudFormation templates, which it synthesizes.
    """
    from hyperpod_cli.aws.cdk_cli import synthesized
    from hyperpod_cli.inspect.diagram.picture import drawn, pictured
    from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
    from hyperpod_cli.terminal.errors import OpsError

    suffixes = {".svg": "svg", ".png": "png", ".mmd": "mermaid", ".mermaid": "mermaid"}
    suffix = output.suffix.lower() if output else ".svg"
    if file_format is None and suffix not in suffixes:
        raise OpsError(
            f"--output: {str(output)!r} must end with {', '.join(suffixes)}; or give --format"
        )
    chosen = file_format or suffixes[suffix]
    if chosen == "png" and output is None and typer.get_binary_stream("stdout").isatty():
        raise OpsError("--output: a PNG cannot be shown in a terminal; name a file")
    with synthesized(config, templates=templates) as folder:
        try:
            stacks = pictured(folder)
        except OSError as error:
            raise OpsError(
                f"--templates: {error}; name a folder that `cdk synth` wrote, or leave it out"
            ) from None
    content = drawn(stacks, file_format=chosen)
    if output is None:
        typer.get_binary_stream("stdout").write(content)
        return
    try:
        replace_file(output, content, mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"--output: {error}") from None
    typer.echo(f"wrote {output}")
