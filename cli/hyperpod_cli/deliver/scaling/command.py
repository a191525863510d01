"""`scale`: changes the configuration and deploys it, unless that would deploy anything else."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import typer

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.effects.effect import Properties, StackState, Template
from hyperpod_cdk.hyperpod.cluster_template import CLUSTER_TYPES, cluster_of
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.aws.cdk_cli import synthesized
from hyperpod_cli.deliver.scaling.change import CountChange, count_change
from hyperpod_cli.deliver.scaling.deployment import Left, deploy, deploy_command, left
from hyperpod_cli.deliver.scaling.lock import locked
from hyperpod_cli.operate.clusters import Chosen, DescribedCluster, chosen_cluster
from hyperpod_cli.plan.plan import Plan, make_plan
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.plan.stack_effects import RESOURCES
from hyperpod_cli.stack_progress.terminal import refuse_changed
from hyperpod_cli.terminal.console import require_consent
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from hyperpod_shared.clusters import COUNT, groups_of

_NATIVE = "native"


def refuse_pending(
    plan: Plan, *, group: str, config: Config, file: Path, cluster: DescribedCluster
) -> None:
    """Refuse to deploy a configuration that differs from what is deployed in more than a number.

    Which number of the group the file has does not matter. CloudFormation's own resource sends all
    groups as they are written, so with it another group with another number is refused, too.
    """
    drifted = [*_other_counts(config, group=group, cluster=cluster)]
    differing = [*_differing(plan, group=group)]
    if differing:
        counts = f" ({'; '.join(drifted)})" if drifted else ""
        raise OpsError(
            f"{file}: differs from what is deployed already, in "
            f"{', '.join(differing)}{counts}; `hyperpod-cdk diff {file}` shows what else "
            "this would deploy: deploy that first, or undo it; nothing was changed"
        )
    if drifted and config.cluster.resource == _NATIVE:
        raise OpsError(
            f"{file}: with cluster.resource native, all groups are sent as written, and "
            f"{'; '.join(drifted)}; scale those first; nothing was changed"
        )


def _other_counts(config: Config, *, group: str, cluster: DescribedCluster) -> Iterator[str]:
    written = {each.name: each.instance_count for each in config.cluster.all_groups}
    for name, count in written.items():
        target = cluster.groups.get(name, {}).get("TargetCount", 0)
        if name != group and target != count:
            yield f"{name}: {count} in the file, {target} in the cluster"
    for name in cluster.groups:
        if name not in written:
            yield f"{name}: not in the file"


def make_plan_of(change: CountChange) -> Plan:
    """Return what a deployment of the changed file does."""
    path = change.path
    # Beside the file: paths in it are relative to its folder.
    with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent) as file:
        file.write(change.after)
        file.flush()
        with synthesized(Path(file.name)) as folder:
            plan = make_plan(DeploymentRequest(path=path, templates=folder))
    if plan.unknown:
        raise OpsError(f"{path}: {plan.unknown}; nothing was changed")
    return plan


def _differing(plan: Plan, *, group: str) -> Iterator[str]:
    """Yield the names of the stacks that a deployment creates, or changes otherwise."""
    for stack in plan.stacks:
        before, after = plan.before[stack.name], StackState(template=stack.template)
        is_scaled = _number(before.template, group) != _number(after.template, group)
        # Where the group has that many nodes already, nothing else is said of the cluster.
        clusters = {*after.of_type(*CLUSTER_TYPES)}
        is_other = (is_scaled and _settings(before) != _settings(after)) or any(
            effect.stack == stack.name
            and (effect.rule, effect.group) != ("group.count", group)
            and not (is_scaled and effect.rule == RESOURCES and effect.resources <= clusters)
            for effect in plan.effects
        )
        if is_other or not (is_scaled or stack.name in plan.unchanged):
            yield stack.name


def _settings(state: StackState) -> list[Properties]:
    """Return what the cluster's own resource has besides the request, which effects compare."""
    return [{**each, "Request": ""} for each in state.of_type(CLUSTER_TYPES[0]).values()]


def _number(template: Template, group: str) -> object:
    """Return the number of nodes of a group that a template asks for; None if it asks for none."""
    cluster = cluster_of(template)
    return None if cluster is None else groups_of(cluster.request).get(group, {}).get(COUNT)


def run(*, group: str, count: int, config: Path, region: str | None, yes: bool) -> None:
    """Run the command.

    A signal ends it only before the file is changed, and during the look after a deployment that
    failed. So the last line always says what the file and AWS have.
    """
    INTERRUPTS.install(allowed=False)
    folder = Path.cwd()
    command = deploy_command(config)
    loaded = load_config(config)
    _refuse_other_region(region, config=config, loaded=loaded)
    with locked(config):
        try:
            agreed_to = INTERRUPTS.allowed(
                lambda: _agreed_to(group=group, count=count, config=config, region=region, yes=yes)
            )
            if INTERRUPTS.arrived:
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            typer.echo(
                f"Interrupted. {config}: is unchanged, and nothing was deployed; to go on, run it "
                "again",
                err=True,
            )
            raise typer.Exit(INTERRUPTED) from None
        if agreed_to is not None:
            change, chosen = agreed_to
            _deploy(change, chosen, command, folder=folder, loaded=loaded)


def _refuse_other_region(region: str | None, *, config: Path, loaded: Config) -> None:
    """Refuse a region to which the file is not deployed: its cluster would be another one."""
    deployed = known_region(loaded)
    if region not in (None, deployed):
        where = deployed or "no region"
        raise OpsError(
            f"--region: {region!r} is not where {config} is deployed, which is {where}; leave "
            "--region out, or set `region` in the file or, for a file without it, AWS_REGION"
        )


def _agreed_to(
    *, group: str, count: int, config: Path, region: str | None, yes: bool
) -> tuple[CountChange, Chosen] | None:
    """Look, show and ask; return the change of the file, or None if there is nothing to do."""
    if INTERRUPTS.arrived:
        raise KeyboardInterrupt
    change = count_change(config, group=group, count=count)
    chosen = chosen_cluster(config, cluster=None, region=region)
    cluster = chosen.cluster()
    now = cluster.groups.get(group, {})
    target = now.get("TargetCount")
    if change.former == count:
        _refuse_without_change(chosen, group=group, count=count, target=target)
        typer.echo(f"Group {group} has {count} nodes, as {config} says; nothing was changed.")
        return None
    typer.echo("Synthesizing, and comparing with what is deployed ...", err=True)
    plan = make_plan_of(change)
    typer.echo(
        f"Group {group}: {now.get('CurrentCount', 0)} of {target} nodes now; "
        f"{change.former} in {config}, {count} wanted."
    )
    typer.echo("\n".join([*change.diff(), *plan.lines()]))
    refuse_pending(plan, group=group, config=load_config(config), file=config, cluster=cluster)
    require_consent("Write this and deploy?", yes=yes)
    if not yes:
        refuse_changed(chosen.session.polling_client("cloudformation"), plan.former)
    return change, chosen


def _deploy(
    change: CountChange, chosen: Chosen, command: Sequence[str], *, folder: Path, loaded: Config
) -> None:
    """Change the file and deploy it; say what is left if that fails."""
    change.write()
    if INTERRUPTS.arrived:
        code, rest = INTERRUPTED, Left(is_undone=True, state="none was begun")
    else:
        code = deploy(command, folder=folder)
        if code == 0:
            return
        rest = left(chosen, loaded, group=change.group, count=change.count)
    typer.echo(_kept_or_taken_back(change, chosen, rest), err=True)
    raise typer.Exit(INTERRUPTED if code == INTERRUPTED else REFUSED)


def _refuse_without_change(chosen: Chosen, *, group: str, count: int, target: int | None) -> None:
    """Refuse what a deployment would not do: it changes the numbers that changed in the file."""
    if target != count:
        first, second = (chosen.command("scale", group, str(n)) for n in (target or 0, count))
        raise OpsError(
            f"{chosen.file}: says instance_count {count} of {group!r} already, and the cluster "
            f"has {target}, which was set in another way; a deployment applies only changes in "
            f"the file: run `{first}`, then `{second}`"
        )


def _kept_or_taken_back(change: CountChange, chosen: Chosen, rest: Left) -> str:
    """Leave the file as what is deployed, and say so."""
    forward, back = (
        chosen.command("scale", change.group, str(n)) for n in (change.count, change.former)
    )
    look = chosen.command("status", "--watch")
    kept = f"{change.path}: keeps {change.count}"
    if rest.is_undone is None:
        return (
            f"{kept}; what is deployed is not known ({rest.state}); see `{look}`, then run "
            f"`{chosen.deployed_by()}` to go on, or `{back}` to go back"
        )
    if not rest.is_undone:
        return (
            f"{kept}, which AWS has or is still working on ({rest.state}); see `{look}`, then run "
            f"`{chosen.deployed_by()}` again, or `{back}` to go back"
        )
    try:
        change.take_back()
    except OpsError as error:
        return (
            f"{str(error).removesuffix('; run it again')}; the deployment changed nothing "
            f"({rest.state}): write instance_count {change.former} of {change.group!r} into it, or "
            f"run `{chosen.deployed_by()}`"
        )
    return (
        f"{change.path}: is as it was before, because the deployment changed nothing "
        f"({rest.state}), and says {change.former}; fix what it names, then run `{forward}`"
    )
