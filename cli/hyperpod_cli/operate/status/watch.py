"""Looks at a cluster again and again."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hyperpod_cli.operate.clusters.chosen import Chosen
from hyperpod_cli.operate.events.history import ClusterEvent
from hyperpod_cli.operate.status.display import checked, display
from hyperpod_cli.operate.status.snapshot import Snapshot, snapshot
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation

# Lines of the screen that are neither groups nor nodes that do not work.
_OTHER_LINES = 16
_FEWEST_NODES = 3
# More lines than these would hide what matters.
_MOST_CHANGES = 10
Facts = Mapping[tuple[str, str], str]


def watch(
    chosen: Chosen, *, console: Console, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Show a cluster until interrupted: live on a terminal, else a line for each change.

    Args:
        chosen: The cluster.
        console: Where to.
        seconds: Between two looks.
        sleep: Waits so many seconds.

    Raises:
        OpsError: There is no such cluster at the first look.
        ClientError: AWS refused the first look.
        BotoCoreError: AWS could not be asked at the first look.
    """
    causes: dict[str, str] = {}
    last = snapshot(chosen, now=datetime.now(UTC), causes=causes)
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with live if live is not None else nullcontext():
        if live is None:
            console.print(display(last))
        told = shown = ""
        while True:
            if live is not None:
                live.update(_screen(last, console, told), refresh=True)
            sleep(seconds)
            try:
                found = snapshot(chosen, now=datetime.now(UTC), causes=causes)
            except (OpsError, ClientError, BotoCoreError) as error:
                told = explanation(error)
                if live is None and told != shown:
                    console.print(told, soft_wrap=True)
                shown = told
                continue
            told = shown = ""
            if live is None:
                for line in changes(last, found):
                    console.print(line, soft_wrap=True)
            last = found


def _screen(last: Snapshot, console: Console, trouble: str) -> Group:
    room = console.height - len(last.groups) - _OTHER_LINES
    lines = [Text(trouble, style="red")] if trouble else []
    return Group(*lines, display(last, most_nodes=max(room, _FEWEST_NODES)))


def changes(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield a line for what differs, and one for each new kind of warning or error.

    Args:
        before: An earlier look.
        after: A later one.
    """
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
            told = (event.level, event.group, event.node, event.why or event.description)
            yield " ".join(part for part in (event.time, *told) if part)


def _what(event: ClusterEvent) -> tuple[str, ...]:
    """Return what a repeat has in common: launches are retried."""
    return event.level, event.group, event.kind or event.cause or event.description


def _facts(found: Snapshot) -> Facts:
    facts = {("cluster", found.cluster): "; ".join((found.status, *found.notes))}
    for group in found.groups:
        healthy = "health not known" if group.healthy is None else f"{group.healthy:,} healthy"
        parts = [f"{group.current:,} of {group.target:,} nodes, {healthy}"]
        parts += [f"deep checks: {checked(group)}"] if group.deep_health_checks else []
        facts["group", group.name] = ", ".join([*parts, group.status])
    for node in found.nodes:
        if node.trouble:
            facts["node", f"{node.group} {node.id}"] = node.trouble
    return facts
