"""Events as lines of a terminal."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from hyperpod_cli.operate.events.history import ClusterEvent

_STYLES = {"Error": "red", "Warn": "yellow"}
_INDENT = "  "


@dataclass(frozen=True, kw_only=True, slots=True)
class _Indented:
    """A paragraph with an indent; unlike rich's padding, without blanks at the ends of lines."""

    text: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        lines = textwrap.wrap(self.text, width, initial_indent=_INDENT, subsequent_indent=_INDENT)
        yield from map(Text, lines)


def event_lines(event: ClusterEvent) -> Iterator[RenderableType]:
    """Yield what happened, below that why, and what to do."""
    where = " ".join(part for part in (event.group, event.node) if part)
    head = Text(f"{event.time} ")
    head.append(event.level, style=_STYLES.get(event.level, ""))
    head.append(f" {where}" if where else "")
    head.append(f" ({event.times} times)" if event.times > 1 else "")
    yield head
    for line in filter(None, (event.why or event.description, event.next_step)):
        yield _Indented(text=line)
