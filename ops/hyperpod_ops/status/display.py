"""A cluster at one moment, for a person and for a program."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hyperpod_ops.events.shown import event_lines
from hyperpod_ops.status.snapshot import GroupState, NodeState, RequestedNode, Snapshot

MOST_NODES = 20
"""Nodes that do not work are listed one by one up to this many."""
_CHECKS = {"InProgress": "running", "Passed": "passed", "Failed": "failed"}


def as_json(snapshot: Snapshot) -> str:
    """Return a snapshot as JSON."""
    return json.dumps(asdict(snapshot), indent=2)


def display(snapshot: Snapshot, *, most_nodes: int = MOST_NODES) -> RenderableType:
    """Return a snapshot for a terminal.

    Args:
        snapshot: The snapshot.
        most_nodes: How many nodes that do not work are listed; the others are counted.
    """
    return Group(*_parts(snapshot, most_nodes=most_nodes))


def _parts(snapshot: Snapshot, *, most_nodes: int) -> Iterator[RenderableType]:
    yield Text(f"{snapshot.cluster} in {snapshot.region}: {snapshot.status}, {snapshot.time} UTC")
    for note in snapshot.notes:
        yield Text(note, style="yellow")
    yield Text("")
    yield _groups(snapshot)
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
    healthy = len(snapshot.nodes) - troubled
    missing = sum(max(group.target - group.current, 0) for group in snapshot.groups)
    if not snapshot.nodes:
        told = "There are no nodes"
    elif troubled:
        told = f"{healthy:,} of {len(snapshot.nodes):,} nodes are healthy"
    else:
        told = "All nodes are healthy" if healthy > 1 else "The node is healthy"
    if not missing:
        return f"{told}."
    return f"{told}; {missing:,} more {'is' if missing == 1 else 'are'} wanted."


def _groups(snapshot: Snapshot) -> Table:
    checks = any(group.deep_health_checks for group in snapshot.groups)
    table = Table(box=None, pad_edge=False)
    for name in ("group", "type"):
        table.add_column(name, overflow="fold")
    table.add_column("nodes", justify="right")
    table.add_column("healthy", justify="right")
    if checks:
        table.add_column("deep checks", overflow="fold")
    table.add_column("status", overflow="fold")
    for group in snapshot.groups:
        counts = f"{group.current:,} of {group.target:,}"
        row = [group.name, group.instance_type, counts, f"{group.healthy:,}"]
        table.add_row(*row, *([checked(group)] if checks else []), group.status)
    return table


def checked(group: GroupState) -> str:
    """Return how far the deep health checks of a group are."""
    return ", ".join(
        f"{count:,} {_CHECKS.get(result, result)}"
        for result, count in sorted(group.deep_health_checks.items())
    )


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
