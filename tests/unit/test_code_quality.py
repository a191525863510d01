"""The code's own checks, as `make check` runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent


def complaints(*command: str) -> str:
    done = subprocess.run(
        [TOOLS / command[0], *command[1:]],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("command", [("ruff", "check", "."), ("ruff", "format", "--check", ".")])
def test_the_code_is_linted_and_formatted(command: tuple[str, ...]) -> None:
    assert complaints(*command) == ""


@pytest.mark.slow
def test_the_types_are_right() -> None:
    assert complaints("mypy") == ""


def test_files_stay_small() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.sh"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    lengths = {
        path: len((REPOSITORY / path).read_text(encoding="utf-8").splitlines())
        for path in listed.stdout.split()
    }
    assert len(lengths) > 100
    assert {path: length for path, length in lengths.items() if length > 300} == {}
