"""`hyperpod-cdk deployer-policy`."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Templates


@command(calls=["sts:GetCallerIdentity"])
def deployer_policy(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
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
    with nullcontext(templates) if templates else synthesized(config) as folder:
        try:
            policies = policies_of(folder, deployment=loaded.name, environment=place)
        except UnknownTypeError as error:
            raise OpsError(str(error)) from None
        except OSError as error:
            raise OpsError(f"{error}; run `make synth` first") from None
    found = dict(documents(policies))
    if document is None:
        write(found, output)
        for line in next_steps(config, loaded.name, policies, place, output):
            typer.echo(line)
    elif document in found:
        print_json(found[document])
    else:
        raise OpsError(f"--document: {document!r} is none of {', '.join(found)}")
