"""Ctrl-C, SIGTERM and SIGHUP: where they end a command, and where they wait for its end."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

_Result = TypeVar("_Result")


class Interrupts:
    """The signals that ask a command to end: KeyboardInterrupt, but only where that is allowed.

    A signal raises it once. What then cleans up and says what is left is not interrupted again, but
    where it is allowed again. What is started does not inherit that.
    """

    def __init__(self) -> None:
        self._is_allowed = False
        self._arrived: list[int] = []

    def install(self, *, allowed: bool) -> None:
        """Handle the signals from now on; they raise KeyboardInterrupt if that is `allowed`."""
        self._is_allowed = allowed
        self._arrived.clear()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # What `nohup` has started goes on; a shell has its background jobs ignore SIGINT alone.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._arrived.append(number)
        if self._is_allowed:
            self._is_allowed = False
            raise KeyboardInterrupt

    @property
    def arrived(self) -> int:
        """How many have arrived."""
        return len(self._arrived)

    @property
    def is_for_this_process(self) -> bool:
        """Whether one arrived that a terminal does not send to the children, too."""
        return any(number != signal.SIGINT for number in self._arrived)

    def hold(self) -> None:
        """Let nothing be interrupted from now on."""
        self._is_allowed = False

    def allow(self) -> None:
        """Let what follows be interrupted, but not by a signal from before."""
        self._is_allowed = True

    def allowed(self, work: Callable[[], _Result]) -> _Result:
        """Return what some work returns, which a signal may interrupt, but none from before."""
        try:
            self.allow()
            return work()
        finally:
            self.hold()


INTERRUPTS = Interrupts()
"""Those of this process."""
