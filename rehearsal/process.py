"""Child processes that never outlive the rehearsal."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 5


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    directory: Path,
    output: int | None = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, its errors in its output."""
    return subprocess.Popen(  # noqa: S603 - our own command lines
        [str(part) for part in command],
        env=dict(environment),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Safe: nothing else runs between fork and exec but this one system call.
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
    )


def stop(process: subprocess.Popen[str]) -> None:
    """End a process and everything it started; do nothing when it has ended."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, end)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def run(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    directory: Path,
    log: Path,
    on_line: Callable[[str], None] | None = None,
) -> int:
    """Run a command to its end, its output into a log file.

    Args:
        command: Argument list.
        environment: Its whole environment.
        directory: Its working directory.
        log: File that gets the output, appended.
        on_line: Called with each line, without its end. Default: nothing.

    Returns:
        The exit code.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    process = start(command, environment=environment, directory=directory)
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        with log.open("a", encoding="utf-8") as sink:
            for line in process.stdout:
                sink.write(line)
                sink.flush()
                if on_line is not None:
                    on_line(line.rstrip("\n"))
        return process.wait()
    finally:
        stop(process)
