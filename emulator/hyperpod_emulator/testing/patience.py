"""Waiting for what must happen, however busy the machine is."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 900.0
"""When a test gives up on what idle machines do in seconds: it ends a test that would hang."""


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds.

    Args:
        holds: Says whether it does.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS:g} s"
        time.sleep(0.02)
