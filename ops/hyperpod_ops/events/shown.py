"""Events as lines of a terminal."""

from collections.abc import Iterator

from rich.padding import Padding
from rich.text import Text

from hyperpod_ops.events.history import ClusterEvent

_STYLES = {"Error": "red", "Warn": "yellow"}
_INDENT = 2


def event_lines(event: ClusterEvent) -> Iterator[Text | Padding]:
    """Yield what happened, below that why, and what to do."""
    where = " ".join(part for part in (event.group, event.node) if part)
    head = Text(f"{event.time} ")
    head.append(event.level, style=_STYLES.get(event.level, ""))
    head.append(f" {where}" if where else "")
    head.append(f" ({event.times} times)" if event.times > 1 else "")
    yield head
    for line in filter(None, (event.why or event.description, event.next_step)):
        yield Padding(Text(line), (0, 0, 0, _INDENT), expand=False)
