"""The signals that end a program, and those that its children start with.

A shell without job control starts background commands with SIGINT ignored, and a caller may have
blocked signals; both are inherited. Neither matters here: a program sets its handlers when it
starts, and its children start with the default ones.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

_PAUSE_SECONDS = 0.2
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class _Interrupts:
    """Raises KeyboardInterrupt on a signal, but not while a child is being started."""

    held: bool = False
    arrived: bool = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        self.arrived = True
        self.deliver()

    def deliver(self) -> None:
        if self.arrived and not self.held:
            self.arrived = False
            raise KeyboardInterrupt


_interrupts = _Interrupts()


def raise_on_interrupts() -> None:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, whatever the caller's signals are."""
    for number in _INTERRUPTS:
        signal.signal(number, _interrupts.handle)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt wait until the end of the block, which starts a child and keeps it.

    Python passes over an exception that a signal raises in what it runs around a fork, and a
    child whose start is interrupted would be known to no one.
    """
    _interrupts.held = True
    try:
        yield
    finally:
        _interrupts.held = False
    _interrupts.deliver()


def wait_for_interrupt() -> NoReturn:
    """Wait until SIGINT or SIGTERM raises KeyboardInterrupt (`raise_on_interrupts`)."""
    while True:
        # signal.pause() would miss a signal that arrives just before it.
        time.sleep(_PAUSE_SECONDS)


def default_signals() -> None:
    """Give this process the default handlers and an empty mask; for `preexec_fn`."""
    for number in (*_INTERRUPTS, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
