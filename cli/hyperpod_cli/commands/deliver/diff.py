"""`hyperpod-cdk diff`."""

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(
    calls=[
        "cloudformation:DescribeStacks",
        "cloudformation:GetTemplate",
        "eks:DescribeCluster",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
        "ssm:GetParameter",
        "sts:GetCallerIdentity",
    ],
    in_kubernetes="list pods",
)
def diff(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Show what a deployment would change: in words, as `deploy` does, then each property."""
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.assembly import stacks_in
    from hyperpod_cli.aws.cdk_cli import cdk, templates_folder
    from hyperpod_cli.aws.session import deployer_session
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.deploy.announcement import announcement
    from hyperpod_cli.terminal.options import make_command

    require_deployable(config)
    package_if_needed(config)
    code = cdk("--ci", "synth", "--quiet", config=config, shows=False)
    if code != 0:
        return code
    folder, loaded = templates_folder(config), load_config(config)
    told = announcement(
        stacks_in(folder),
        config=loaded,
        path=config,
        session=deployer_session(loaded),
        again=make_command("diff", config),
    )
    for line in (*told.lines, ""):
        typer.echo(line)
    return cdk("diff", "--app", str(folder), config=config, warns=False)
