"""A process that runs one command after another."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_rehearsal.command_runner import CommandRunner

_PROGRAM = """
import json, os, sys
for line in sys.stdin:
    command, code = json.loads(line).values()
    print(command, os.getpid(), flush=True)
    if command == "die":
        sys.exit(int(code))
    print(f"\\0{code}", flush=True)
"""


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    with CommandRunner(
        [sys.executable, "-c", _PROGRAM], environment=os.environ, directory=tmp_path
    ) as made:
        yield made


def _run(runner: CommandRunner, log: Path, name: str, code: str) -> tuple[int, list[str]]:
    lines: list[str] = []
    ended = runner.run({"name": name, "code": code}, log=log, on_line=lines.append)
    return ended, lines


def test_commands_share_a_process_and_a_log(runner: CommandRunner, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "log"
    (first, [one]), (second, [other]) = _run(runner, log, "a", "0"), _run(runner, log, "b", "3")
    assert (first, second) == (0, 3)
    assert (one.split()[0], other.split()[0]) == ("a", "b")
    assert one.split()[1] == other.split()[1]
    assert log.read_text() == f"{one}\n{other}\n"


def test_a_process_that_dies_is_followed_by_another(runner: CommandRunner, tmp_path: Path) -> None:
    code, [last] = _run(runner, tmp_path / "log", "die", "7")
    assert code == 7
    code, [line] = _run(runner, tmp_path / "log", "a", "0")
    assert code == 0
    assert line.split()[1] != last.split()[1]


def test_an_interrupted_command_takes_its_process_along(
    runner: CommandRunner, tmp_path: Path
) -> None:
    def interrupt(line: str) -> None:
        pids.append(int(line.split()[1]))
        raise KeyboardInterrupt

    pids: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        runner.run({"name": "a", "code": "0"}, log=tmp_path / "log", on_line=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
