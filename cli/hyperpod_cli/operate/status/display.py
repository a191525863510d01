"""A cluster for a person and for a program: at one moment, or again and again."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table

from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.events.history import ClusterEvent, event_lines
from hyperpod_cli.operate.node_groups import ManagedNodeGroupState
from hyperpod_cli.operate.status.snapshot import (
    GroupState,
    NodeState,
    RequestedNode,
    Snapshot,
    snapshot,
)
from hyperpod_cli.terminal.console import styled, table
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation

MOST_NODES = 20
"""Nodes that do not work are listed one by one up to this many."""
_COLUMNS = 80
_CHECKS = {"InProgress": "running", "Passed": "passed", "Failed": "failed"}


def display(
    snapshot: Snapshot, *, most_nodes: int = MOST_NODES, every_node: bool = False
) -> RenderableType:
    """Return a snapshot for a terminal; with `every_node`, also the nodes that work.

    Of those that do not, `most_nodes` are listed; the others are counted.
    """
    return Group(*_parts(snapshot, most_nodes=most_nodes, every_node=every_node))


def _parts(snapshot: Snapshot, *, most_nodes: int, every_node: bool) -> Iterator[RenderableType]:
    yield styled(f"{snapshot.cluster} in {snapshot.region}: {snapshot.status}, {snapshot.time}")
    for note in snapshot.notes:
        yield styled(note, style="yellow")
    if snapshot.groups:
        yield styled("")
        yield _Groups(snapshot=snapshot)
    yield from _of_node_groups(snapshot.node_groups)
    if every_node and snapshot.nodes:
        yield styled("")
        yield _AllNodes(nodes=snapshot.nodes)
    troubled = [node for node in snapshot.nodes if node.trouble]
    if troubled:
        yield styled(f"\n{_counted(len(troubled))} not healthy:", style="yellow")
        yield _nodes(troubled[:most_nodes])
        left = len(troubled) - most_nodes
        if left > 0:
            yield styled(f"and {left} more; --json lists all")
    if snapshot.requested:
        yield styled(f"\n{_counted(len(snapshot.requested))} without an instance yet:")
        yield _waiting(snapshot.requested, most=most_nodes)
    if snapshot.groups:
        yield styled("\n" + _others(snapshot, troubled=len(troubled)))
    elif not snapshot.node_groups:
        yield styled("\nThere are no nodes.")
    if snapshot.events:
        yield styled("\nWarnings and errors of the last hour, newest first:")
        for event in snapshot.events:
            yield from event_lines(event)


def _of_node_groups(groups: Sequence[ManagedNodeGroupState]) -> Iterator[RenderableType]:
    if groups:
        yield styled("")
        yield _node_groups(groups)
    for group in groups:
        for issue, step in group.issues.items():
            yield styled(f"{group.name}: {issue}. {step}", style="yellow")


def _counted(count: int) -> str:
    return "1 node is" if count == 1 else f"{count:,} nodes are"


def _others(snapshot: Snapshot, *, troubled: int) -> str:
    missing = sum(max(group.target - group.current, 0) for group in snapshot.groups)
    if not snapshot.nodes:
        summary = "There are no nodes"
    elif any(group.healthy is None for group in snapshot.groups):
        running = sum(group.running for group in snapshot.groups)
        summary = f"{running:,} of {len(snapshot.nodes):,} nodes are Running; health is not known"
    elif troubled:
        healthy = len(snapshot.nodes) - troubled
        summary = f"{healthy:,} of {len(snapshot.nodes):,} nodes are healthy"
    else:
        summary = "All nodes are healthy" if len(snapshot.nodes) > 1 else "The node is healthy"
    if not missing:
        return f"{summary}."
    return f"{summary}; {missing:,} more {'is' if missing == 1 else 'are'} wanted."


@dataclass(frozen=True, kw_only=True, slots=True)
class _Groups:
    """The table of the groups; without their types where these would break the names."""

    snapshot: Snapshot

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield _groups(self.snapshot, types=options.max_width >= _COLUMNS)


def _groups(snapshot: Snapshot, *, types: bool) -> Table:
    checks = any(group.deep_health_checks for group in snapshot.groups)
    roles = any(group.role for group in snapshot.groups)
    columns = {"type": types, "in Slurm": roles, "deep checks": checks}
    heads = ("group", "type", "in Slurm", "nodes", "healthy", "deep checks", "status")
    made = table(*(x for x in heads if columns.get(x, True)), numbers=("nodes", "healthy"))
    for group in snapshot.groups:
        counts = f"{group.current:,} of {group.target:,}"
        healthy = "-" if group.healthy is None else f"{group.healthy:,}"
        kind = [*([group.instance_type] if types else []), *([group.role] if roles else [])]
        row = [group.name, *kind, counts, healthy]
        made.add_row(*row, *([checked(group)] if checks else []), group.status)
    return made


def _node_groups(groups: Sequence[ManagedNodeGroupState]) -> Table:
    made = table("node group", "type", "nodes", "status")
    for group in groups:
        types = ", ".join(group.instance_types) or "-"
        made.add_row(group.name, types, _size(group), group.status)
    return made


def _size(group: ManagedNodeGroupState) -> str:
    return f"{group.desired:,} wanted, {group.minimum:,} to {group.maximum:,}"


def checked(group: GroupState) -> str:
    """Return how far the deep health checks of a group are."""
    return ", ".join(
        f"{count:,} {_CHECKS.get(result, result)}"
        for result, count in sorted(group.deep_health_checks.items())
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _AllNodes:
    """The table of all nodes; without the columns where these would break the names."""

    nodes: Sequence[NodeState]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = _all_nodes(self.nodes)
        unbroken = options.update(max_width=sys.maxsize)
        for without in (("launched",), ("launched", "type")):
            if console.measure(table, options=unbroken).maximum > options.max_width:
                table = _all_nodes(self.nodes, without=without)
        yield table


def _all_nodes(nodes: Sequence[NodeState], *, without: Sequence[str] = ()) -> Table:
    columns: Mapping[str, Callable[[NodeState], str]] = {
        "node": lambda node: f"{node.group}/{node.number}",
        "ID": lambda node: node.id,
        "type": lambda node: node.instance_type,
        "status": lambda node: node.status,
        "health": lambda node: node.health or "-",
        "launched": lambda node: node.launched,
    }
    table = Table(box=None, pad_edge=False)
    shown = {name: cell for name, cell in columns.items() if name not in without}
    for name in shown:
        table.add_column(name, overflow="fold", no_wrap=name == "ID")
    for node in nodes:
        table.add_row(*(cell(node) for cell in shown.values()))
    return table


def _nodes(nodes: list[NodeState]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for node in nodes:
        table.add_row(f"{node.group}/{node.number}", node.id, node.trouble)
    return table


def _waiting(nodes: Sequence[RequestedNode], *, most: int) -> Table:
    """Return a row for each group and reason: nodes without an instance differ in nothing else."""
    made = table("", "", show_header=False)
    counts = Counter((node.group, node.trouble) for node in nodes)
    for (group, trouble), count in sorted(counts.items())[:most]:
        made.add_row(f"{count:,} of {group}", trouble)
    return made


# Lines of the screen that are neither groups nor nodes that do not work.
_OTHER_LINES = 16
_FEWEST_NODES = 3
# More lines than these would hide what matters.
_MOST_CHANGES = 10
Facts = Mapping[tuple[str, str], str]


def watch(chosen: Chosen, *, console: Console, seconds: float) -> None:
    """Show a cluster until interrupted: live on a terminal, else a line for each change.

    Only the first look may fail: what goes wrong later is shown.
    """
    causes: dict[str, str] = {}
    last = snapshot(chosen, now=datetime.now(UTC), causes=causes)
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with live if live is not None else nullcontext():
        if live is None:
            console.print(display(last))
        trouble = shown = ""
        while True:
            if live is not None:
                live.update(_screen(last, console, trouble), refresh=True)
            time.sleep(seconds)
            try:
                new = snapshot(chosen, now=datetime.now(UTC), causes=causes)
            except (OpsError, ClientError, BotoCoreError) as error:
                trouble = explanation(error)
                if live is None and trouble != shown:
                    console.print(trouble, soft_wrap=True)
                shown = trouble
                continue
            trouble = shown = ""
            if live is None:
                for line in changes(last, new):
                    console.print(line, soft_wrap=True)
            last = new


def _screen(last: Snapshot, console: Console, trouble: str) -> Group:
    room = console.height - len(last.groups) - len(last.node_groups) - _OTHER_LINES
    lines = [styled(trouble, style="red")] if trouble else []
    return Group(*lines, display(last, most_nodes=max(room, _FEWEST_NODES)))


def changes(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield a line for what differs, and one for each new kind of warning or error."""
    former, facts = _facts(before), _facts(after)
    changed = [
        (kind, f"{name}: {facts.get((kind, name), 'healthy, or gone')}")
        for kind, name in {**former, **facts}
        if former.get((kind, name)) != facts.get((kind, name))
    ]
    nodes = [line for kind, line in changed if kind == "node"]
    lines = [line for kind, line in changed if kind != "node"]
    lines += nodes[:_MOST_CHANGES]
    if len(nodes) > _MOST_CHANGES:
        lines.append(f"{len(nodes) - _MOST_CHANGES} more nodes changed")
    yield from (f"{after.time} {line}" for line in lines)
    known = {_what(event) for event in before.events}
    for event in reversed(after.events):
        if _what(event) not in known:
            words = (event.level, event.group, event.node, event.why or event.description)
            yield " ".join(part for part in (event.time, *words) if part)


def _what(event: ClusterEvent) -> tuple[str, ...]:
    """Return what a repeat has in common: launches are retried."""
    return event.level, event.group, event.kind or event.cause or event.description


def _facts(snapshot: Snapshot) -> Facts:
    facts = {("cluster", snapshot.cluster): "; ".join((snapshot.status, *snapshot.notes))}
    for group in snapshot.groups:
        healthy = "health not known" if group.healthy is None else f"{group.healthy:,} healthy"
        parts = [f"{group.current:,} of {group.target:,} nodes, {healthy}"]
        parts += [f"deep checks: {checked(group)}"] if group.deep_health_checks else []
        facts["group", group.name] = ", ".join([*parts, group.status])
    for item in snapshot.node_groups:
        facts["node group", item.name] = ", ".join([_size(item), item.status, *item.issues])
    for node in snapshot.nodes:
        if node.trouble:
            facts["node", f"{node.group} {node.id}"] = node.trouble
    return facts
