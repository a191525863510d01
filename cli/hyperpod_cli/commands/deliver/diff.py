"""`hyperpod-cdk diff`."""

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(calls=["ssm:GetParameter", "sts:GetCallerIdentity"])
def diff(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Show what a deployment would change."""
    from hyperpod_cli.aws.cdk_cli import cdk
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed

    require_deployable(config)
    package_if_needed(config)
    return cdk("diff", config=config)
