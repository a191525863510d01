"""A cluster at one moment, for a person and for a program."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from hyperpod_cli.operate.events.history import event_lines
from hyperpod_cli.operate.status.snapshot import GroupState, NodeState, RequestedNode, Snapshot

MOST_NODES = 20
"""Nodes that do not work are listed one by one up to this many."""
_COLUMNS = 80
_CHECKS = {"InProgress": "running", "Passed": "passed", "Failed": "failed"}


def as_json(snapshot: Snapshot) -> str:
    """Return a snapshot as JSON."""
    return json.dumps(asdict(snapshot), indent=2)


def display(
    snapshot: Snapshot, *, most_nodes: int = MOST_NODES, every_node: bool = False
) -> RenderableType:
    """Return a snapshot for a terminal.

    Args:
        snapshot: The snapshot.
        every_node: Whether to list all nodes, too. Default: only those that do not work.
        most_nodes: How many nodes that do not work are listed; the others are counted.
    """
    return Group(*_parts(snapshot, most_nodes=most_nodes, every_node=every_node))


def _parts(snapshot: Snapshot, *, most_nodes: int, every_node: bool) -> Iterator[RenderableType]:
    yield Text(f"{snapshot.cluster} in {snapshot.region}: {snapshot.status}, {snapshot.time} UTC")
    for note in snapshot.notes:
        yield Text(note, style="yellow")
    yield Text("")
    yield _Groups(snapshot=snapshot)
    if every_node and snapshot.nodes:
        yield Text("")
        yield _all_nodes(snapshot.nodes)
    troubled = [node for node in snapshot.nodes if node.trouble]
    if troubled:
        yield Text(f"\n{counted_nodes(troubled)} not healthy:", style="yellow")
        yield _nodes(troubled[:most_nodes])
        left = len(troubled) - most_nodes
        if left > 0:
            yield Text(f"and {left} more; --json lists all")
    if snapshot.requested:
        yield Text(f"\n{_counted(len(snapshot.requested))} without an instance yet:")
        yield _waiting(snapshot.requested, most=most_nodes)
    yield Text("\n" + _others(snapshot, troubled=len(troubled)))
    if snapshot.events:
        yield Text("\nWarnings and errors of the last hour, newest first:")
        for event in snapshot.events:
            yield from event_lines(event)


def counted_nodes(nodes: list[NodeState]) -> str:
    """Return how many nodes there are, as the beginning of a sentence."""
    return _counted(len(nodes))


def _counted(count: int) -> str:
    return "1 node is" if count == 1 else f"{count:,} nodes are"


def _others(snapshot: Snapshot, *, troubled: int) -> str:
    missing = sum(max(group.target - group.current, 0) for group in snapshot.groups)
    if not snapshot.nodes:
        told = "There are no nodes"
    elif any(group.healthy is None for group in snapshot.groups):
        running = sum(group.running for group in snapshot.groups)
        told = f"{running:,} of {len(snapshot.nodes):,} nodes are Running; health is not known"
    elif troubled:
        healthy = len(snapshot.nodes) - troubled
        told = f"{healthy:,} of {len(snapshot.nodes):,} nodes are healthy"
    else:
        told = "All nodes are healthy" if len(snapshot.nodes) > 1 else "The node is healthy"
    if not missing:
        return f"{told}."
    return f"{told}; {missing:,} more {'is' if missing == 1 else 'are'} wanted."


@dataclass(frozen=True, kw_only=True, slots=True)
class _Groups:
    """The table of the groups; without their types where these would break the names."""

    snapshot: Snapshot

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield _groups(self.snapshot, types=options.max_width >= _COLUMNS)


def _groups(snapshot: Snapshot, *, types: bool) -> Table:
    checks = any(group.deep_health_checks for group in snapshot.groups)
    table = Table(box=None, pad_edge=False)
    for name in ("group", "type") if types else ("group",):
        table.add_column(name, overflow="fold")
    table.add_column("nodes", justify="right")
    table.add_column("healthy", justify="right")
    if checks:
        table.add_column("deep checks", overflow="fold")
    table.add_column("status", overflow="fold")
    for group in snapshot.groups:
        counts = f"{group.current:,} of {group.target:,}"
        healthy = "-" if group.healthy is None else f"{group.healthy:,}"
        row = [group.name, *([group.instance_type] if types else []), counts, healthy]
        table.add_row(*row, *([checked(group)] if checks else []), group.status)
    return table


def checked(group: GroupState) -> str:
    """Return how far the deep health checks of a group are."""
    return ", ".join(
        f"{count:,} {_CHECKS.get(result, result)}"
        for result, count in sorted(group.deep_health_checks.items())
    )


def _all_nodes(nodes: Sequence[NodeState]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("node", overflow="fold")
    table.add_column("ID", no_wrap=True)
    for name in ("type", "status", "health"):
        table.add_column(name, overflow="fold")
    table.add_column("launched")
    for node in nodes:
        name = f"{node.group}/{node.number}"
        health = node.health or "-"
        table.add_row(name, node.id, node.instance_type, node.status, health, node.launched)
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
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(2):
        table.add_column(overflow="fold")
    counts = Counter((node.group, node.trouble) for node in nodes)
    for (group, trouble), count in sorted(counts.items())[:most]:
        table.add_row(f"{count:,} of {group}", trouble)
    return table
