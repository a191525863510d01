"""Running a deployment."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from hyperpod_cli.operate.scaling.command import deploy


class Process:
    """Is interrupted once, and then ends."""

    def __init__(self, outcomes: Iterator[int | None]) -> None:
        self.outcomes = outcomes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> int:
        code = next(self.outcomes)
        if code is None:
            raise KeyboardInterrupt
        return code


@pytest.mark.parametrize(
    ("outcomes", "code"), [([0], 0), ([1], 1), ([None, 2], 130), ([None, None, -2], 130)]
)
def test_an_interrupted_deployment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, outcomes: list[int | None], code: int
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Process(iter(outcomes)))

    assert deploy(["make"], folder=Path()) == code
