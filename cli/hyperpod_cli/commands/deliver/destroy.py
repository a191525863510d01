"""`hyperpod-cdk destroy`."""

import sys
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Express, Templates


@command(
    calls=[
        "cloudformation:DescribeStackEvents",
        "cloudformation:DescribeStacks",
        "cloudformation:GetTemplate",
        "cloudformation:ListStackResources",
        "cloudformation:UpdateTerminationProtection",
        "eks:DescribeCluster",
        "ssm:GetParameter",
        "sts:GetCallerIdentity",
    ],
    in_kubernetes="list the objects of users",
)
def destroy(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    templates: Templates = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All stacks, not the nodes alone.")
    ] = False,
    express: Express = False,
    force: Annotated[bool, typer.Option("--force", help="Do not ask.")] = False,
    unchecked: Annotated[
        bool,
        typer.Option("--unchecked", help="Go on where users' losses cannot be found, and say so."),
    ] = False,
) -> int:
    """Delete the nodes, or with --all all stacks.

    Network, control plane, DNS and data stay, if the nodes alone are deleted.

    With --templates, neither account nor what users would lose is looked at before.
    """
    from hyperpod_cli.aws.cdk_cli import synth, templates_folder
    from hyperpod_cli.deliver.can_deploy import require_bootstrapped
    from hyperpod_cli.deliver.deletion_check import refuse_deletion
    from hyperpod_cli.deliver.destroy import deletion
    from hyperpod_cli.terminal.errors import OpsError
    from hyperpod_cli.terminal.interrupts import INTERRUPTS

    INTERRUPTS.install(allowed=True)
    if not force and not sys.stdin.isatty():
        raise OpsError(
            "There is no terminal to ask on; to delete without a question: FORCE=1, or --force"
        )
    if templates is None:
        require_bootstrapped(config)
        refuse_deletion(config, everything=everything, unchecked=unchecked)
        code = synth(config)
        if code != 0:
            return code
    return deletion.destroy(
        config,
        templates=templates or templates_folder(config),
        everything=everything,
        express=express,
        force=force,
    )
