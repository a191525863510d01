"""`hyperpod-cdk diff`."""

from hyperpod_cli.commands import command
from hyperpod_cli.deliver.deploy import ANNOUNCES
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(
    calls=[*ANNOUNCES, "ssm:GetParameter", "sts:GetCallerIdentity"],
    in_kubernetes="list pods",
)
def diff(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Show what a deployment would change: in words, as `deploy` does, then each property."""
    from hyperpod_cli.aws.cdk_cli import cdk, synth, templates_folder
    from hyperpod_cli.deliver.can_deploy import require_deployable
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.deploy.announcement import announce
    from hyperpod_cli.terminal.options import make_command

    require_deployable(config)
    package_if_needed(config)
    code = synth(config)
    if code != 0:
        return code
    folder = templates_folder(config)
    announce(config, templates=folder, again=make_command("diff", config))
    return cdk("diff", "--app", str(folder), config=config, warns=False)
