"""What becomes of a deployment whose terminal is closed."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.support.commands import cdk_program
from tests.support.patience import PATIENCE_SECONDS, eventually

NAME = "ml-hyperpod"
# A deployment through the whole command line; the CDK CLI and CloudFormation are not the real ones.
PROGRAM = f"""
from pathlib import Path
from hyperpod_cli import main as cli
from hyperpod_cli.commands import Command
from hyperpod_cli.stack_progress import terminal
from hyperpod_cli.stack_progress.progress import Followed
from hyperpod_cli.terminal.console import console
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from tests.support.stack_events import CloudFormation, event

class Begun(CloudFormation):
    def get_paginator(self, name):
        if Path("started").exists() and not self.stacks:
            self.add(event({NAME!r}, "UPDATE_IN_PROGRESS"))
        return super().get_paginator(name)

def it() -> int:
    INTERRUPTS.install(allowed=True)
    out = console(soft_wrap=True)
    code = terminal.run(
        ["deploy", {NAME!r}],
        stacks=[Followed(name={NAME!r}, size=2)],
        client=Begun(),
        region="us-west-2",
        again="hyperpod-cdk deploy",
        out=out,
        poll_seconds=0.05,
    ).code
    out.print("what follows")
    return code

command = Command(name="it", wing="inspect", run=it, iam=(), in_kubernetes="")
cli.commands = lambda: {{"it": command}}
cli.main()
"""


def begun(folder: Path, *, output: int, errors: int) -> subprocess.Popen[str]:
    """Start a deployment, and wait until the CLI works."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        if os.isatty(output):
            fcntl.ioctl(output, termios.TIOCSCTTY, 0)

    # In place of the CLI, which deploys for a long time.
    cdk_program(folder, "#!/bin/sh\necho $$ > new && mv new started\nsleep 600\n")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "it"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=output,
        stdout=output,
        stderr=errors,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,  # noqa: PLW1509 - there are no threads here
    )
    eventually((folder / "started").exists)
    return process


@pytest.mark.parametrize("errors_are_kept", [True, False])
def test_the_cli_ends_with_the_terminal_and_its_log_says_what_goes_on(
    tmp_path: Path, *, errors_are_kept: bool
) -> None:
    ours, theirs = pty.openpty()
    with (tmp_path / "errors").open("w") as errors:
        process = begun(
            tmp_path, output=theirs, errors=errors.fileno() if errors_are_kept else theirs
        )
    os.close(theirs)
    os.close(ours)

    assert process.wait(timeout=PATIENCE_SECONDS) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "started").read_text()), 0)
    log = tmp_path / "build" / "cdk" / f"deploy-{NAME}.log"
    left = log.read_text("utf-8").splitlines()
    assert left[0] == "Interrupted."
    assert f"{NAME} (UPDATE_IN_PROGRESS)" in left[1]
    assert left[-1].endswith(": hyperpod-cdk deploy")
    said = (tmp_path / "errors").read_text()
    assert said.strip().splitlines() == (left if errors_are_kept else [])
