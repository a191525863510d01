"""Child processes that never outlive the rehearsal."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from hyperpod_emulator.signals import default_signals, interrupts_held

_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 5
# What the line begins with that follows the output of a command.
_END = "\0"


def _prepare_child() -> None:
    default_signals()
    if sys.platform == "linux":
        # The kernel kills this process when its parent dies, however that happens.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    directory: Path,
    output: int | None = subprocess.PIPE,
    standard_input: int = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start a command in a new process group, with stderr in its output."""
    return subprocess.Popen(  # noqa: S603 - our own command lines
        [str(part) for part in command],
        env=dict(environment),
        cwd=directory,
        stdin=standard_input,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Safe: nothing runs between fork and exec but these system calls.
        preexec_fn=_prepare_child,  # noqa: PLW1509
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


class CommandRunner:
    """A child process that runs one command after another; a context manager that stops it.

    It reads a command as JSON in one line, and ends what the command prints with a line of a NUL
    character and the exit code.
    """

    def __init__(
        self, program: Sequence[str | Path], *, environment: Mapping[str, str], directory: Path
    ) -> None:
        self._program = program
        self._environment = environment
        self._directory = directory
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Return it; the first command starts the process, if nothing began it."""
        return self

    def begin(self) -> Self:
        """Start the process, so that it gets ready beside what comes before the first command."""
        with interrupts_held():
            if self._process is None:
                self._process = start(
                    self._program,
                    environment=self._environment,
                    directory=self._directory,
                    standard_input=subprocess.PIPE,
                )
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop it, and what its command has started."""
        if self._process is not None:
            stop(self._process)
            self._process = None

    def run(
        self,
        command: Mapping[str, object],
        *,
        log: Path,
        on_line: Callable[[str], None],
    ) -> int:
        """Run a command to its end, its output appended to a log; return the exit code.

        That of the process, if it has ended. Each line is passed on, without its end.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        running = self.begin()._process
        assert running is not None  # noqa: S101 - it has begun
        assert running.stdin is not None  # noqa: S101 - it is a pipe
        assert running.stdout is not None  # noqa: S101 - it is a pipe
        code: str | None = None
        try:
            print(json.dumps(command), file=running.stdin, flush=True)
            with log.open("a", encoding="utf-8") as sink:
                for line in running.stdout:
                    if line.startswith(_END):
                        code = line.removeprefix(_END)
                        return int(code)
                    sink.write(line)
                    sink.flush()
                    on_line(line.rstrip("\n"))
            return running.wait()
        finally:
            # Interrupted or dead, it is of no use to the next command.
            if code is None:
                self.__exit__()
