"""`hyperpod-cdk account`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(calls=["ssm:GetParameter", "sts:GetCallerIdentity"])
def account(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    for_deployment: Annotated[
        bool,
        typer.Option(
            "--for-deployment",
            help="Refuse what AWS would refuse in the middle of a deployment, too.",
        ),
    ] = False,
) -> None:
    """Say which account and region are deployed to."""
    from hyperpod_cli.deliver.can_deploy import require_bootstrapped, require_deployable

    (require_deployable if for_deployment else require_bootstrapped)(config)
