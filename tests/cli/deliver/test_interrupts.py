"""Ctrl-C in the second in which a command imports what it needs."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.support.configs import REPOSITORY

# As if it arrived while pydantic is imported.
_PYDANTIC = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"


def test_an_interrupted_import_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "pydantic.py").write_text(_PYDANTIC)
    done = subprocess.run(
        [sys.executable, "-m", "hyperpod_cli.deliver.validate"],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(tmp_path)},
        # Whoever starts the tests may ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "\nInterrupted.\n")
