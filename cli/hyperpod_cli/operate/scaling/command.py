"""`scale`: changes the configuration and deploys it."""

from pathlib import Path

import typer
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import load_config
from hyperpod_cli.operate.clusters.chosen import Chosen, chosen_cluster
from hyperpod_cli.operate.scaling.change import CountChange, count_change
from hyperpod_cli.operate.scaling.deployment import deploy, deploy_command, is_undone
from hyperpod_cli.operate.scaling.pending import refuse_pending
from hyperpod_cli.terminal.consent import agreed
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.explained import explanation


def run(*, group: str, count: int, config: Path, region: str | None, yes: bool) -> None:
    """Run the command.

    Args:
        group: Name of the group.
        count: How many nodes it is to have.
        config: File of the configuration.
        region: Region of the cluster. Default: the configuration's or the environment's.
        yes: Whether not to ask.

    Raises:
        ConfigError: The configuration cannot be used, now or with that number.
        OpsError: It cannot be done, or nobody agreed to it.
        Exit: Nobody agreed, or the deployment failed.
        ClientError: AWS refused to describe the cluster.
        BotoCoreError: AWS could not be asked.
    """
    folder = Path.cwd()
    command = deploy_command(config, folder=folder)
    change = count_change(config, group=group, count=count)
    loaded = load_config(config)
    chosen = chosen_cluster(config, cluster=None, region=region)
    found = chosen.found()
    now = found.groups.get(group, {})
    target = now.get("TargetCount")
    if change.former == count:
        _refuse_without_change(chosen, group=group, count=count, target=target)
        typer.echo(f"Group {group} has {count} nodes, as {config} says; nothing was done.")
        return
    typer.echo("Synthesizing, and comparing with what is deployed ...", err=True)
    refuse_pending(config, group=group, chosen=chosen, cluster=found)
    typer.echo(
        f"Group {group}: {now.get('CurrentCount', 0)} of {target} nodes now; "
        f"{change.former} in {config}, {count} wanted."
    )
    for line in change.diff():
        typer.echo(line)
    if not agreed("Write this and deploy?", yes=yes):
        typer.echo("Nothing was done.")
        raise typer.Exit(1)
    change.write()
    code = deploy(command, folder=folder)
    if code == 0:
        return
    failed = INTERRUPTED if code == INTERRUPTED else REFUSED
    try:
        undone = is_undone(chosen, loaded, group=group, count=count)
    except (OpsError, BotoCoreError, ClientError) as error:
        told = explanation(error)
        typer.echo(f"{config}: keeps {count}; what is deployed is not known. {told}", err=True)
        raise typer.Exit(failed) from None
    typer.echo(_kept_or_taken_back(change, chosen, count=count, undone=undone), err=True)
    raise typer.Exit(failed)


def _refuse_without_change(chosen: Chosen, *, group: str, count: int, target: int | None) -> None:
    """Refuse what a deployment would not do: it changes the numbers that changed in the file."""
    if target != count:
        first, second = (chosen.command("scale", group, str(n)) for n in (target or 0, count))
        raise OpsError(
            f"{chosen.file}: says instance_count {count} of {group!r} already, and the cluster has "
            f"{target}, which it was given otherwise; a deployment changes only what changed in "
            f"the file: run `{first}`, then `{second}`"
        )


def _kept_or_taken_back(change: CountChange, chosen: Chosen, *, count: int, undone: bool) -> str:
    """Leave the file as what is deployed, and say so."""
    if not undone:
        return (
            f"{change.path}: keeps {count}, which AWS has or is still working on; see "
            f"`{chosen.command('status', '--watch')}`, then run `{chosen.deployed_by()}` again"
        )
    change.take_back()
    return (
        f"{change.path}: is as it was before, because the deployment changed nothing; fix what it "
        "names, then run it again"
    )
