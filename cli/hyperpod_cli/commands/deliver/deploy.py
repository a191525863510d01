"""`hyperpod-cdk deploy`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.deliver.deploy import ANNOUNCES
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Express, Templates


@command(
    calls=[
        *ANNOUNCES,
        "cloudformation:DescribeStackEvents",
        "cloudformation:DescribeStackResources",
        "cloudformation:UpdateTerminationProtection",
        "ssm:GetParameter",
        "sts:GetCallerIdentity",
    ],
    in_kubernetes="list pods",
)
def deploy(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    templates: Templates = None,
    only: Annotated[
        str, typer.Option(metavar="STACKS", help="Stacks, with those that they need.")
    ] = "",
    express: Express = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Show what changes, ask, deploy to your AWS account.

    With --templates, account, chart and images are not looked at before.
    """
    from hyperpod_cli.aws.cdk_cli import synth, templates_folder
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.deploy import deployment
    from hyperpod_cli.deliver.images import refuse_unreachable
    from hyperpod_cli.terminal.interrupts import INTERRUPTS

    INTERRUPTS.install(allowed=True)
    if templates is None:
        require_deployable(config)
        package_if_needed(config)
        refuse_unreachable(config)
        typer.echo("Synthesizing, and comparing with what is deployed ...")
        code = synth(config)
        if code != 0:
            return code
    return deployment.deploy(
        config,
        templates=templates or templates_folder(config),
        only=only,
        express=express,
        yes=yes,
    )
