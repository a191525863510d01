"""The CDK CLI as a child process whose output goes to a file."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What the CLI writes beside the error: the same once more, and the warnings of the synthesis.
_BESIDE = ("❌", "WARNING ", "   ")
# How CloudFormation begins what a rule of a template says.
_RULE = re.compile(r"^Template error: rule \S+ failed: ")
_LAST_LINES = 10
_GRACE_SECONDS = 10


@contextmanager
def running(
    arguments: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command of the CDK CLI, and end it if it still runs afterwards.

    Args:
        arguments: The command and its options.
        log: File that gets its output; its errors go into one beside it.
        environment: Its whole environment. Default: this process's.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, _errors(log).open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own command line
            ["cdk", "--no-notices", "--no-color", "--ci", *arguments],  # noqa: S607 - of the project
            env={**(os.environ if environment is None else environment)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            # Ctrl-C is for this process, which says what goes on.
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def reported(log: Path) -> str:
    """Return why the CLI failed, in its own words and without what surrounds them.

    Args:
        log: File that got its output.
    """
    lines = [
        _COLOUR.sub("", each).rstrip() for each in _errors(log).read_text("utf-8").splitlines()
    ]
    told = [line for line in lines if line.strip() and not line.startswith(_BESIDE)]
    return "\n".join(_RULE.sub("", line) for line in told[-_LAST_LINES:])


def _errors(log: Path) -> Path:
    return log.with_suffix(".err")
