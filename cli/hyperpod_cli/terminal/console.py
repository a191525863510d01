"""What is shown and asked at the terminal: tables, JSON, times, questions."""

import errno
import json
import os
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import IO, Any, cast

import typer
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cli.terminal.errors import DECLINED, INTERRUPTED, OpsError
from hyperpod_cli.terminal.output import Output, visible

_UNBROKEN = 10_000
_INDENT = "  "


def require_consent(question: str, *, yes: bool, declined: str = "Nothing was done.") -> None:
    """Go on if the user agrees, or has beforehand; refuse to ask where no one can answer."""
    if yes:
        return
    require_terminal(yes=yes)
    try:
        agrees = typer.confirm(question)
    except typer.Abort:
        typer.echo("\nNothing was done.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if not agrees:
        typer.echo(declined)
        raise typer.Exit(DECLINED)


def is_terminal() -> bool:
    """Return whether someone can be asked; a shell may have closed standard input: `<&-`."""
    return sys.stdin is not None and sys.stdin.isatty()


def require_terminal(*, yes: bool) -> None:
    """Refuse to go on where nobody has agreed, and nobody can be asked."""
    if not yes and not is_terminal():
        raise OpsError(
            "--yes: is missing, and there is no terminal for the confirmation; nothing was changed"
        )


class VisibleConsole(Console):
    """A console that shows the control characters of texts, and writes colors of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    @property
    def file(self) -> IO[str]:
        """Where it writes: around what shows control characters, which styles are made of."""
        stream: Any = super().file
        return cast(IO[str], stream.styled) if isinstance(stream, Output) else stream

    @file.setter
    def file(self, stream: IO[str]) -> None:
        self._file = stream

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as it is shown, before it is wrapped; rich would drop some characters."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the parts of what is shown."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(visible(part.text), part.style)

    def on_broken_pipe(self) -> None:
        """Leave to the command what becomes of it when nothing reads its output."""
        raise  # noqa: PLE0704 - rich calls this where it handles the error


def styled(text: str, style: str = "") -> Text:
    """Return a text with a style, such as `red`; rich would drop some control characters."""
    return Text(visible(text), style=style)


@dataclass(frozen=True, kw_only=True, slots=True)
class Indented:
    """A paragraph with an indent; unlike rich's padding, without blanks at the ends of lines."""

    text: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        lines = textwrap.wrap(
            visible(self.text),
            options.max_width,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from map(styled, lines)


def console(*, soft_wrap: bool = False, stderr: bool = False) -> Console:
    """Return the console of standard output or error; where it is no terminal, no line is broken.

    On a terminal, lines are broken at words, or by the terminal itself (`soft_wrap`).
    """
    made = VisibleConsole(soft_wrap=soft_wrap, stderr=stderr)
    # Rich would break names at 80 columns, which no `grep` finds then.
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _UNBROKEN
    return made


def print_json(value: object) -> None:
    """Write a value to standard output as JSON; a dataclass is an object of its fields."""
    json.dump(value, sys.stdout, indent=2, default=asdict)
    sys.stdout.write("\n")


def table(*heads: str, numbers: Collection[str] = (), show_header: bool = True) -> Table:
    """Return a table without rows, whose columns of numbers are on the right."""
    made = Table(box=None, pad_edge=False, show_header=show_header)
    for head in heads:
        side: JustifyMethod = "right" if head in numbers else "left"
        made.add_column(head, justify=side, overflow="fold")
    return made


def shown(rows: Sequence[Any], *, as_json: bool, empty: str) -> None:
    """Show a row for each item, an instance of a dataclass: its attributes; or say `empty`."""
    if as_json:
        print_json(rows)
    elif not rows:
        console().print(empty)
    else:
        names = [field.name for field in fields(rows[0])]
        made = table(*(name.replace("_", " ") for name in names))
        for row in rows:
            made.add_row(*(str(getattr(row, name)) for name in names))
        console().print(made)


# A month of a large cluster's jobs.
_MOST_BYTES = 64 * 1024 * 1024


def read_given(path: Path, *, option: str) -> str:
    """Return the text of a file that an option names; `-` is standard input."""
    if str(path) == "-" and sys.stdin is None:  # the shell has closed it: `<&-`
        raise OpsError(f"{option}: - is standard input, which is closed; name a file")
    try:
        if str(path) != "-":
            return given_text(path, most_bytes=_MOST_BYTES, encoding="utf-8-sig")
        text = sys.stdin.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"has more than {_MOST_BYTES:,} characters")
        return text
    except (OSError, UnicodeDecodeError) as error:
        raise OpsError(f"{option}: {path} cannot be read ({error})") from None


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST = timedelta(days=366)


def in_utc(moment: datetime) -> str:
    """Return a time as it is shown, and as JSON has it: to the second, in UTC, which Z says."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rounded(amount: Decimal) -> str:
    """Return an amount of dollars with two digits for cents."""
    return f"{amount.quantize(Decimal('0.01'), ROUND_HALF_UP):,}"


def parsed_duration(text: str, *, option: str) -> timedelta:
    """Return a length of time: a number and a unit, such as 30m; at most a year."""
    found = re.fullmatch(r"(\d{1,9})([smhd])", text)
    length = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
    if length is not None and length > _LONGEST:
        raise OpsError(f"{option}: {text!r} must be at most {_LONGEST.days}d")
    if length is None:
        raise OpsError(f"{option}: {text!r} must be a number and s, m, h or d, such as 30m or 2d")
    return length
