"""Waiting for what must happen, however busy the machine is."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

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


def end_time_of(
    command: str, monkeypatch: pytest.MonkeyPatch, *, when: Callable[[], object]
) -> None:
    """Let the time of a process be over as soon as something holds, and not before.

    Args:
        command: Its first argument, such as `upgrade`.
        monkeypatch: The test's monkeypatch.
        when: Says whether it does.
    """

    class Timed(subprocess.Popen[str]):
        def __init__(self, arguments: list[str], **options: Any) -> None:
            super().__init__(arguments, **options)
            self.is_over = arguments[1] != command

        def communicate(self, *arguments: Any, **options: Any) -> tuple[Any, Any]:
            if not self.is_over:
                eventually(when)
                self.is_over = True
                raise subprocess.TimeoutExpired(command, 0)
            return super().communicate(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Timed)
