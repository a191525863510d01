"""A line of its own for every ten seconds in which no test has ended, as of a long collection."""

import threading
import time
from collections.abc import Callable


class Heartbeat:
    """A plugin of the process that starts the workers.

    Args:
        write: Writes a line.
        seconds: How long nothing is written at most.
    """

    def __init__(self, write: Callable[[str], object], *, seconds: float = 10.0) -> None:
        self._write = write
        self._seconds = seconds
        self._begun = time.monotonic()
        self._heard = threading.Event()
        self._is_over = False
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def begin(self) -> None:
        """Begin."""
        self._thread.start()

    def pytest_runtest_logreport(self) -> None:
        """A test has ended, of which pytest writes a dot."""
        self._heard.set()

    def pytest_sessionfinish(self) -> None:
        """End before pytest writes what has failed."""
        self._is_over = True
        self._heard.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._is_over:
            if not self._heard.wait(self._seconds):
                self._write(f"  ... {time.monotonic() - self._begun:.0f} s")
            self._heard.clear()
