"""Commands that begin in an account: `account`, `bootstrap` and `init`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile


@command(iam=["ssm:GetParameter", "sts:GetCallerIdentity"])
def account(
    *,
    config: ConfigFile,
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


@command(iam=["sts:GetCallerIdentity"])
def bootstrap(
    *,
    config: ConfigFile,
    policies: Annotated[
        str, typer.Option(help="Give CloudFormation's role these policies: ARNs, with commas.")
    ] = "",
    trust: Annotated[
        str, typer.Option(help="Trust this account, whose pipeline deploys there.")
    ] = "",
) -> int:
    """Prepare account and region for the CDK, once."""
    from hyperpod_cli.aws.cdk_cli import cdk_alone
    from hyperpod_cli.deliver.can_deploy import places_to_bootstrap

    options = ["--cloudformation-execution-policies", policies] if policies else []
    options += ["--trust", trust] if trust else []
    return cdk_alone("bootstrap", *places_to_bootstrap(config), *options)


@command(iam=["ec2:DescribeAvailabilityZones", "iam:GetRole", "sts:GetCallerIdentity"])
def init(
    *,
    config: Annotated[
        Path | None, typer.Option(help="Write this file. Default: <name>.yaml.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name the deployment.")] = None,
    region: Annotated[str | None, typer.Option(help="Deploy to this AWS region.")] = None,
    zones: Annotated[
        str | None, typer.Option(help="Use these Availability Zones; the nodes run in the first.")
    ] = None,
    instance_type: Annotated[
        str | None, typer.Option("--type", help="Use nodes of this instance type.")
    ] = None,
    count: Annotated[str | None, typer.Option(help="Use so many nodes.")] = None,
    storage: Annotated[
        str | None, typer.Option(help="Make so many GiB of FSx for Lustre, or none.")
    ] = None,
    admin: Annotated[
        str | None,
        typer.Option(
            metavar="ARN", help="Let this role or user administer the EKS cluster, or none."
        ),
    ] = None,
    orchestrator: Annotated[str, typer.Option(help="Run jobs with this: eks or slurm.")] = "eks",
) -> int:
    """Write a configuration from a few answers.

    It asks for those that are missing, and says what is deployed and costs. Credentials are used
    only for zones that are given by name, and to say who asks.
    """
    from hyperpod_cli.deliver.init.dialogue import write_configuration

    given = {
        "--name": name,
        "--region": region,
        "--zones": zones,
        "--type": instance_type,
        "--count": count,
        "--storage": storage,
        "--admin": admin,
    }
    return write_configuration(given, config=config, orchestrator=orchestrator)
