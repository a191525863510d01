"""What a rehearsal prints while it works, and a picture of it for the documentation."""

import io
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import Progress as LiveProgress
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from hyperpod_cli.terminal.console import VisibleConsole
from hyperpod_cli.terminal.console import console as visible_console

_STYLES = {"ok": "green", "FAIL": "bold red", "WARNING": "yellow"}


class Progress:
    """Prints each step with the seconds since the start.

    On a terminal, a line below tells what runs now and for how long.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or visible_console(soft_wrap=True)
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        """Print one line with the time."""
        words = text.split(maxsplit=1)
        style = _STYLES.get(words[0]) if words else None
        self._console.print(f"[{self.elapsed:5.1f} s] {text}", style=style)

    def show(self, text: str = "") -> None:
        """Print text as it is."""
        self._console.print(text)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Print what begins, and afterwards how long it took."""
        self.say(f"{text} ...")
        begun = time.monotonic()
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        with LiveProgress(
            *columns,
            TimeElapsedColumn(),
            console=self._console,
            # rich would read escape sequences in what is printed meanwhile.
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
            disable=not self._console.is_terminal,
        ) as live:
            live.add_task(text, total=None)
            yield
        self.say(f"  done in {time.monotonic() - begun:.1f} s")


_WIDTH = 110
# A page shows the picture whole: what the text next to it does not need is left out.
_LEFT_OUT = re.compile(
    r"\[ *[\d.]+ s\] (  done |Waiting |Lifting )|Stacks$|Outputs of |Helm release "
)
_CHECK = re.compile(r"\[ *[\d.]+ s\]   ok ")
_CHECKS_SHOWN = 2
_FONT_RATIO = 0.6
# As rich has it, but without its web font: GitHub loads none, and it is not this project's.
_SVG = """\
<svg class="{unique_id}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix, .{unique_id}-title {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def recording_console(file: IO[str] | None = None) -> Console:
    """Return a console that keeps what it prints, and shows no spinner, which a picture cannot."""
    return VisibleConsole(file=file, record=True, force_terminal=False, width=_WIDTH)


def picture(console: Console, *, title: str, name: str) -> str:
    """Return what a console kept as an SVG, whose styles have a name."""
    return console.export_svg(
        title=title, code_format=_SVG, font_aspect_ratio=_FONT_RATIO, unique_id=name
    )


def write_picture(console: Console, path: Path, *, title: str) -> None:
    """Write what a console of `recording_console` kept as an SVG of at most 25 lines."""
    shown = recording_console(io.StringIO())
    for line in _shortened(console.export_text(styles=True).splitlines()):
        shown.print(Text.from_ansi(line), soft_wrap=True)
    path.write_text(picture(shown, title=title, name="rehearsal"), encoding="utf-8")


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that the picture shows, and how many checks it leaves out."""
    checks, shown, after_blank = 0, True, False
    for line in lines:
        text = Text.from_ansi(line).plain
        if not text.strip():
            after_blank = True
            continue
        if _CHECK.match(text):
            checks += 1
            shown = checks <= _CHECKS_SHOWN
        elif text.startswith("[") or after_blank:
            if checks > _CHECKS_SHOWN:
                yield f"            ... and {checks - _CHECKS_SHOWN} more checks"
            checks, shown = 0, _LEFT_OUT.match(text) is None
        if shown:
            if after_blank:
                yield ""
            yield line
            after_blank = False
        elif after_blank and not text.startswith("["):
            after_blank = False
