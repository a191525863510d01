"""What a rehearsal prints and logs while it works, and a picture of what a console printed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress as LiveProgress
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from hyperpod_cli.terminal.console import console as visible_console

_STYLES = {"ok": "green", "FAIL": "bold red", "WARNING": "yellow"}


class Progress:
    """Prints each step with the seconds since the start, or writes it to a log.

    On a terminal, a line below tells what runs now and for how long.

    Args:
        console: What is printed on. Default: standard output.
        log: File that each step is appended to, so that few lines are printed.
    """

    def __init__(self, console: Console | None = None, *, log: Path | None = None) -> None:
        self._console = console or visible_console(soft_wrap=True)
        self._log = log
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without pauses."""
        return time.monotonic() - self._started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out of the seconds what this takes."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._started += time.monotonic() - begun

    def say(self, text: str) -> None:
        """Write one line with the time: into the log, or print it."""
        line = f"[{self.elapsed:5.1f} s] {text}"
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(f"{line}\n")
            return
        words = text.split(maxsplit=1)
        style = _STYLES.get(words[0]) if words else None
        self._console.print(line, style=style)

    def show(self, text: str = "") -> None:
        """Print text as it is."""
        self._console.print(text)

    def highlight(self, text: str) -> None:
        """Write one line with the time, and print it in any case."""
        self.say(text)
        if self._log is not None:
            self.show(text)

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
