"""What the rehearsal prints while it works."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Prints each step with the seconds since the start.

    Args:
        quiet: Print nothing. Default: print.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        """Print one line with the time."""
        if not self._quiet:
            print(f"[{self.elapsed:5.1f} s] {text}", flush=True)

    def show(self, text: str = "") -> None:
        """Print text as it is."""
        if not self._quiet:
            print(text, flush=True)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Print what begins, and afterwards how long it took."""
        self.say(f"{text} ...")
        begun = time.monotonic()
        yield
        self.say(f"  done in {time.monotonic() - begun:.1f} s")
