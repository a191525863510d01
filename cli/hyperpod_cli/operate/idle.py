"""Groups whose accelerators nothing has, what they cost, and the command that ends that."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH, charge_of
from hyperpod_cdk.facts.instance_types import has_accelerators
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.operate.clusters import Chosen, ClusterNode, DescribedCluster, nodes_of
from hyperpod_cli.operate.nodes.health import RUNNING, DeviceUse, device_use
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.console import console, in_utc, print_json, read_given, rounded, table
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.clusters import Group

# What is shown of a command; `--json` has all.
_MOST_IDS = 25
_HOUR, _DAY = 3600, 86400
# A name, and a state with the marks that sinfo adds: `idle*` does not respond, `idle~` is off.
# https://slurm.schedmd.com/sinfo.html#SECTION_NODE-STATE-CODES
_SINFO = re.compile(r"(\S+)\s+([a-z_+]+)[*~#!%$@^-]?")
SINFO = "sinfo --noheader --Node --format '%N %t'"
"""What the nodes of Slurm do, in lines that are read here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IdleGroup:
    """A group with accelerators that nothing has.

    Attributes:
        instance_type: The types of its idle nodes.
        idle: How many of its running nodes are idle.
        since: Since when all of the idle ones are, in UTC; empty if that is not known.
        usd_an_hour: What the idle ones cost at list prices; empty if that is not known.
        note: What else is known of the price, or of what becomes of the nodes.
        command: What ends the idle nodes; empty if something else does.
    """

    group: str
    instance_type: str
    idle: int
    running: int
    since: str
    usd_an_hour: str
    usd_a_month: str
    note: str
    command: str


def idle_groups(
    cluster: DescribedCluster,
    nodes: Iterable[ClusterNode],
    use: DeviceUse,
    *,
    region: str,
    config: Config | None,
    chosen: Chosen,
) -> list[IdleGroup]:
    """Return the groups with idle nodes, the dearest first.

    What has devices is by the names of nodes in Kubernetes or in Slurm.
    """
    running: dict[str, list[ClusterNode]] = {}
    for node in nodes:
        if node.status == RUNNING and has_accelerators(node.instance_type):
            running.setdefault(node.group, []).append(node)
    groups = [
        _idle_group(cluster.groups[name], idle, members, use=use, region=region, chosen=chosen)
        for name, members in running.items()
        if (idle := [node for node in members if not use.busy & _names(node)])
    ]
    karpenters = _of_karpenter(config)
    shown = [
        _left_to_karpenter(group, karpenters[group.group]) if group.group in karpenters else group
        for group in groups
    ]
    return sorted(shown, key=lambda group: (-Decimal(group.usd_an_hour or 0), group.group))


def _names(node: ClusterNode) -> set[str]:
    return {node.kubernetes_name, node.host} - {""}


def _idle_group(
    group: Group,
    idle: Sequence[ClusterNode],
    members: Sequence[ClusterNode],
    *,
    use: DeviceUse,
    region: str,
    chosen: Chosen,
) -> IdleGroup:
    types = sorted({node.instance_type for node in idle})
    hourly, note = _price(idle, group, region=region)
    least = group.get("MinCount") or 0
    command, kept = _command(group["InstanceGroupName"], idle, members, least=least, chosen=chosen)
    if group.get("TrainingPlanArn"):  # to end them saves nothing
        command, kept = "", ""
    return IdleGroup(
        group=group["InstanceGroupName"],
        instance_type=", ".join(types),
        idle=len(idle),
        running=len(members),
        since=_since(idle, use),
        usd_an_hour="" if hourly is None else str(hourly),
        usd_a_month="" if hourly is None else str(hourly * HOURS_A_MONTH),
        note="; ".join(filter(None, (note, kept))),
        command=command,
    )


def _since(idle: Sequence[ClusterNode], use: DeviceUse) -> str:
    """Return since when all nodes are idle: a pod that was deleted leaves nothing to tell."""
    ends = [use.last.get(name) for node in idle for name in _names(node) if name in use.last]
    known = [end for end in ends if end is not None]
    return in_utc(max(known)) if len(known) == len(idle) else ""


def _price(idle: Sequence[ClusterNode], group: Group, *, region: str) -> tuple[Decimal | None, str]:
    if group.get("TrainingPlanArn"):
        return None, "paid with the training plan, used or not"
    if "Spot" in (group.get("CapacityRequirements") or {}):
        return None, "Spot, whose price changes"
    total, notes = Decimal(0), []
    for name in sorted({node.instance_type for node in idle}):
        count = sum(node.instance_type == name for node in idle)
        charge = charge_of(name, quantity=count, service="HyperPod", item=name, region=region)
        if charge.usd is None:
            return None, charge.note
        total += charge.usd
        notes += [charge.note] if charge.note else []
    return total, "; ".join(dict.fromkeys(notes))


def _command(
    name: str,
    idle: Sequence[ClusterNode],
    members: Sequence[ClusterNode],
    *,
    least: int,
    chosen: Chosen,
) -> tuple[str, str]:
    """Return the command that ends the idle nodes, and why some or all stay."""
    spare = max(0, min(len(idle), len(members) - least))
    kept = "" if spare == len(idle) else f"min_instance_count keeps {len(idle) - spare}"
    if not spare:
        return "", kept
    is_known = chosen.config is not None and any(
        group.name == name for group in chosen.config.cluster.all_groups
    )
    if is_known and spare == len(members):
        return chosen.command("scale", name, "0"), kept
    # HyperPod would choose which nodes of a smaller group end, busy ones too.
    return chosen.command("delete", *(node.id for node in idle[:spare][:_MOST_IDS])), kept


def _of_karpenter(config: Config | None) -> Mapping[str, int]:
    """Return the minutes after which Karpenter takes empty nodes of a group away, by group."""
    if config is None or config.cluster.auto_scaling is None:
        return {}
    return {
        name: pool.consolidate_after_minutes
        for pool in config.cluster.node_pools
        for name in pool.instance_groups
    }


def _left_to_karpenter(group: IdleGroup, minutes: int) -> IdleGroup:
    what = f"Karpenter takes empty nodes away after {minutes} min"
    return replace(group, note="; ".join(filter(None, (group.note, what))), command="")


def slurm_use(text: str, *, nodes: Iterable[ClusterNode]) -> DeviceUse:
    """Return which nodes Slurm uses, by what `SINFO` printed; one that it does not name is used."""
    states = {
        match[1]: match[2] for line in text.splitlines() if (match := _SINFO.match(line.strip()))
    }
    hosts = {node.host for node in nodes if node.host}
    if not hosts & states.keys():
        raise OpsError(f"--sinfo: names no node of the cluster; give it what `{SINFO}` prints")
    return DeviceUse(busy=frozenset(host for host in hosts if states.get(host) != "idle"))


def run(chosen: Chosen, *, sinfo: Path | None, as_json: bool) -> None:
    """Show the idle groups of a cluster; with Slurm, by a file of what `SINFO` printed, or `-`."""
    cluster = chosen.cluster()
    nodes = nodes_of(chosen.sagemaker, cluster.name)
    has_kubernetes = "Eks" in (cluster.described.get("Orchestrator") or {})
    if has_kubernetes:
        if sinfo is not None:
            raise OpsError("--sinfo: is for clusters with Slurm; omit it")
        name = orchestrator_of(cluster).eks_cluster_name()
        with kubernetes_api(chosen.session, eks_cluster=name) as api:
            use = device_use(api)
    else:
        if sinfo is None:
            raise OpsError(
                f"cluster: {cluster.name!r} has Slurm, and only Slurm knows which nodes are "
                f"idle: run `{SINFO}` on a login node, and give its output to "
                f"`{chosen.command('idle')} --sinfo -`"
            )
        use = slurm_use(read_given(sinfo, option="--sinfo"), nodes=nodes)
    groups = idle_groups(
        cluster, nodes, use, region=chosen.session.region, config=chosen.config, chosen=chosen
    )
    if as_json:
        print_json({"groups": groups, "waiting": list(use.waiting)})
        return
    out = console()
    for part in display(groups, use, now=datetime.now(UTC)):
        out.print(part)


def display(groups: Sequence[IdleGroup], use: DeviceUse, *, now: datetime) -> Iterator[Any]:
    """Yield what a console prints of idle groups: a table, the commands, and who waits."""
    if not groups:
        yield "No accelerator is idle."
        return
    prices = ("USD an hour", "USD a month")
    made = table("group", "type", "idle", "for", *prices, "", numbers=prices)
    for group in groups:
        amounts = (group.usd_an_hour, group.usd_a_month)
        made.add_row(
            group.group,
            group.instance_type,
            f"{group.idle} of {group.running}",
            _age(group.since, now=now),
            *(rounded(Decimal(price)) if price else "unknown" for price in amounts),
            group.note,
        )
    yield made
    commands = [group for group in groups if group.command]
    if commands:
        yield "\nTo end them:"
    for group in commands:
        yield f"  {group.command}"
        if group.idle > _MOST_IDS and " delete " in f" {group.command} ":
            yield f"  and again for the rest of {group.group}"
    if use.waiting:
        more = f" and {len(use.waiting) - 1} more" if len(use.waiting) > 1 else ""
        yield f"\nPods that ask for devices wait for a node: {use.waiting[0]}{more}."


def _age(since: str, *, now: datetime) -> str:
    if not since:
        return "unknown"
    return duration(now - datetime.fromisoformat(since))


def duration(length: timedelta) -> str:
    """Return a length of time in its two largest units, such as `2 d 3 h`."""
    seconds = max(0, int(length.total_seconds()))
    days, hours, minutes = seconds // _DAY, seconds % _DAY // _HOUR, seconds % _HOUR // 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
