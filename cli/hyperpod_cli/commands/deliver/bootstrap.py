"""`hyperpod-cdk bootstrap`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(calls=["sts:GetCallerIdentity"])
def bootstrap(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    policies: Annotated[
        str, typer.Option(help="ARNs of the policies of CloudFormation's role, with commas.")
    ] = "",
    trust: Annotated[str, typer.Option(help="Account of a pipeline that deploys there.")] = "",
) -> int:
    """Prepare account and region for the CDK, once."""
    from hyperpod_cli.aws.cdk_cli import cdk_alone
    from hyperpod_cli.deliver.can_deploy import places_to_bootstrap

    options = ["--cloudformation-execution-policies", policies] if policies else []
    options += ["--trust", trust] if trust else []
    return cdk_alone("bootstrap", *places_to_bootstrap(config), *options)
