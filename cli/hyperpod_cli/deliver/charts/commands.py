"""Running git and helm: never interactive, with a time limit, failures as one line."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperpod_cli.terminal.errors import FailedError


class ChartError(FailedError):
    """Packaging failed; the message is one line: what, where, what to do."""


# A hook or an outer git command leaves these behind; they would point git at another repository.
_GIT_LOCATION = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


class CommandError(FailedError):
    """A command exited non-zero or took too long; the message is the line that says why."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: int = 600,
) -> str:
    """Run a command and return its standard output.

    Args:
        argv: Program and arguments; no shell is involved.
        cwd: Directory to run in.
        environment: Variables added to those of this process.
        timeout_seconds: When to give up.

    Raises:
        CommandError: It failed or took too long.
        ChartError: The program is not installed.
    """
    inherited = {key: value for key, value in os.environ.items() if key not in _GIT_LOCATION}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - an argument list of this program, no shell
            [str(part) for part in argv],
            cwd=cwd,
            env={**inherited, **quiet, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    except FileNotFoundError as error:
        raise ChartError(f"{argv[0]} is not installed or not on PATH: install it") from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"no answer within {timeout_seconds} s") from error
    if done.returncode != 0:
        raise CommandError(_reason(done.stderr) or f"exit code {done.returncode}")
    return done.stdout


def _reason(output: str) -> str:
    """Return the error line that says why: the one that git or helm marks, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(("error:", "fatal:"))]
    return (marked or lines[-1:] or [""])[0]
