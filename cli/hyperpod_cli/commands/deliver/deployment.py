"""`hyperpod-cdk deploy` and `destroy`, and what they say beforehand: `diff`, `deletion-check`."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.plan import READS
from hyperpod_cli.terminal.options import AsJson, ConfigFile, Express, Templates, Yes


@command(
    iam=["cloudformation:DescribeStacks", "cloudformation:GetTemplate", "eks:DescribeCluster"],
    in_kubernetes="list the objects of users",
)
def deletion_check(
    *,
    config: ConfigFile,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Go on where it cannot look, and say so.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Look at what the deletion of all stacks loses.")
    ] = False,
) -> None:
    """Say what users would lose by a deletion."""
    from hyperpod_cli.deliver.deletion_check import refuse_deletion

    refuse_deletion(config, everything=everything, unchecked=unchecked)


@command(
    iam=[
        *READS,
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
    config: ConfigFile,
    templates: Templates = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="STACKS", help="Deploy these stacks alone, with those that they need."
        ),
    ] = "",
    exclusively: Annotated[
        bool, typer.Option("--exclusively", help="With --only: leave out what they need.")
    ] = False,
    express: Express = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> int:
    """Show what changes, ask, and deploy to your AWS account.

    With --templates, account, chart and images are not looked at before.
    """
    from hyperpod_cli.aws.cdk_cli import synth, templates_folder
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.deploy import deployment
    from hyperpod_cli.deliver.images import refuse_unreachable
    from hyperpod_cli.plan.request import DeploymentRequest
    from hyperpod_cli.terminal.interrupts import INTERRUPTS

    INTERRUPTS.install(allowed=True)
    if templates is None:
        with redirect_stdout(sys.stderr if as_json else sys.stdout):
            require_deployable(config)
            package_if_needed(config)
            refuse_unreachable(config)
            typer.echo("Synthesizing, and comparing with what is deployed ...")
            synth(config)
    request = DeploymentRequest(
        path=config,
        templates=templates or templates_folder(config),
        only=only,
        exclusively=exclusively,
        express=express,
    )
    return deployment.deploy(request, yes=yes, as_json=as_json)


@command(
    iam=[
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
    config: ConfigFile,
    templates: Templates = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete all stacks, not the nodes alone.")
    ] = False,
    express: Express = False,
    yes: Yes = False,
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
    from hyperpod_cli.terminal.console import require_terminal
    from hyperpod_cli.terminal.interrupts import INTERRUPTS

    INTERRUPTS.install(allowed=True)
    require_terminal(yes=yes)
    if templates is None:
        require_bootstrapped(config)
        refuse_deletion(config, everything=everything, unchecked=unchecked)
        synth(config)
    return deletion.destroy(
        config,
        templates=templates or templates_folder(config),
        everything=everything,
        express=express,
        yes=yes,
    )


@command(
    iam=[*READS, "ssm:GetParameter", "sts:GetCallerIdentity"],
    in_kubernetes="list pods",
)
def diff(*, config: ConfigFile, as_json: AsJson = False) -> None:
    """Show what a deployment would change.

    It says the changes in words, as `deploy` does, then each property. With --json it writes the
    plan alone: its effects, what it costs, whether it needs consent.
    """
    from hyperpod_cli.aws.cdk_cli import synth, templates_folder
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.diff import show_changes

    # Only the plan is on standard output.
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        require_deployable(config)
        package_if_needed(config)
        synth(config)
    show_changes(config, templates=templates_folder(config), as_json=as_json)
