"""What the rehearsal prints while it works."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as LiveProgress
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

_STYLES = {"ok": "green", "FAIL": "bold red", "WARNING": "yellow"}


class Progress:
    """Prints each step with the seconds since the start.

    On a terminal, a line below tells what runs now and for how long.

    Args:
        console: Where to print. Default: the terminal.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(
            highlight=False, markup=False, emoji=False, soft_wrap=True
        )
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
            transient=True,
            disable=not self._console.is_terminal,
        ) as live:
            live.add_task(text, total=None)
            yield
        self.say(f"  done in {time.monotonic() - begun:.1f} s")
