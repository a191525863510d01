"""`scale`: changes the configuration and deploys it, unless that would deploy anything else."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.assembly import stacks_by_name
from hyperpod_cli.aws.cdk_cli import synthesized
from hyperpod_cli.aws.stacks import described_stack, template_of
from hyperpod_cli.operate.clusters import Chosen, HyperPodCluster, chosen_cluster
from hyperpod_cli.operate.scaling.change import CountChange, count_change
from hyperpod_cli.terminal.console import agreed
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_stacks.table import stack_name

_NATIVE = "native"
# The CDK CLI has its usage reported by them; the app alone does not.
# https://docs.aws.amazon.com/cdk/v2/guide/usage-data.html
_OF_CLI = "AWS::CDK::Metadata"
_CONDITION_OF_CLI = "CDKMetadataAvailable"


def refuse_pending(config: Path, *, group: str, chosen: Chosen, cluster: HyperPodCluster) -> None:
    """Refuse to deploy a configuration that differs from what is deployed already.

    Only the number of the group is shown before its deployment.

    Args:
        config: The file; which number it has for the group does not matter.
        group: Name of the group that is scaled.
        chosen: The cluster.
        cluster: The same, as described.

    Raises:
        OpsError: A stack differs from what is deployed, or, with CloudFormation's own resource,
            which sends all groups as they are written, another group has another number.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    loaded = chosen.config
    if loaded is None:
        return
    drifted = [*_other_counts(loaded, group=group, cluster=cluster)]
    differing = _differing(config, group=group, chosen=chosen)
    if differing:
        counts = f" ({'; '.join(drifted)})" if drifted else ""
        raise OpsError(
            f"{config}: differs from what is deployed already, in {', '.join(differing)}{counts}; "
            f"`make diff CONFIG={config}` shows what else this would deploy: deploy that first, or "
            "take it back; nothing was done"
        )
    if drifted and loaded.cluster.resource == _NATIVE:
        raise OpsError(
            f"{config}: with cluster.resource native, all groups are sent as written, and "
            f"{'; '.join(drifted)}; scale those first; nothing was done"
        )


def _other_counts(config: Config, *, group: str, cluster: HyperPodCluster) -> Iterator[str]:
    written = {each.name: each.instance_count for each in config.cluster.all_groups}
    for name, count in written.items():
        found = cluster.groups.get(name, {}).get("TargetCount", 0)
        if name != group and found != count:
            yield f"{name}: {count} in the file, {found} in the cluster"
    for name in cluster.groups:
        if name not in written:
            yield f"{name}: not in the file"


def _differing(config: Path, *, group: str, chosen: Chosen) -> list[str]:
    """Return the names of the stacks that a deployment would create or change."""
    cloudformation = chosen.session.client("cloudformation")
    with synthesized(config) as folder:
        return [
            stack.name
            for stack in stacks_by_name(folder)
            if _content(stack.template, group)
            != _content(template_of(cloudformation, stack.name), group)
        ]


def _content(template: Mapping[str, Any], group: str) -> str:
    """Return what CloudFormation acts on, without the number of a group."""
    resources = {
        name: {key: value for key, value in resource.items() if key != "Metadata"}
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] != _OF_CLI
    }
    conditions = {
        name: condition
        for name, condition in template.get("Conditions", {}).items()
        if name != _CONDITION_OF_CLI
    }
    acted_on = {key: value for key, value in template.items() if key != "Metadata"}
    content = {**acted_on, "Resources": resources, "Conditions": conditions}
    text = json.dumps(content, sort_keys=True)
    return _count_of(group).sub(r"\1\2", text)


def _count_of(group: str) -> re.Pattern[str]:
    """Return what finds a group's number: in a property, or in a request that is text."""
    quote = r'\\*"'
    return re.compile(
        rf"({quote}InstanceCount{quote}: ?)\d+"
        rf"(, ?{quote}InstanceGroupName{quote}: ?{quote}{re.escape(group)}{quote})"
    )


_MAKE = "make"


def _deploy_command(config: Path, *, folder: Path) -> list[str]:
    """Return the command that deploys a configuration without asking."""
    if not (folder / "Makefile").is_file() or not (folder / "cdk.json").is_file():
        raise OpsError(f"{folder}: is not the folder of the project; run it there, to deploy")
    if shutil.which(_MAKE) is None:
        raise OpsError("make: is not on the PATH; install it, to deploy")
    return [_MAKE, "deploy", f"CONFIG={config}", "YES=1"]


def deploy(command: Sequence[str], *, folder: Path) -> int:
    """Run a deployment; return its exit code, 130 after Ctrl-C.

    Ctrl-C interrupts the deployment, which then says what goes on at AWS.

    Args:
        command: The command.
        folder: The project's folder.
    """
    interrupted = False
    with subprocess.Popen(command, cwd=folder) as process:  # noqa: S603 - of fixed form
        while True:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                interrupted = True
            else:
                return INTERRUPTED if code and interrupted else code


def is_undone(chosen: Chosen, config: Config, *, group: str, count: int) -> bool:
    """Say whether a deployment that failed has left a group as it was.

    While CloudFormation still works, and where the group is to have that many nodes, it has not.

    Args:
        chosen: The cluster.
        config: The configuration.
        group: Name of the group.
        count: How many nodes it was to have.

    Raises:
        OpsError: There is no cluster any more.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    cloudformation = chosen.session.client("cloudformation")
    stack = described_stack(cloudformation, stack_name(config, "hyperpod"))
    if stack is not None and stack["StackStatus"].endswith("_IN_PROGRESS"):
        return False
    described = chosen.found().groups.get(group) or {}
    return described.get("TargetCount") != count


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
    command = _deploy_command(config, folder=folder)
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
