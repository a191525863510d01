"""Synthesizes a configuration, as the CDK CLI would; the templates are the same."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cli.terminal.errors import OpsError

_APP = Path("app.py")


@contextmanager
def synthesized(config: Path) -> Iterator[Path]:
    """Yield a folder with the templates of a configuration, which then goes.

    Raises:
        OpsError: The app is not in this folder, or refuses the configuration.
    """
    if not _APP.is_file():
        raise OpsError(
            "app.py: is not in this folder, to synthesize with; run it in the folder of the "
            "project, or, to draw, name with --templates the folder that `cdk synth` wrote"
        )
    with tempfile.TemporaryDirectory() as folder:
        program = (
            "import sys; from pathlib import Path; from app import main; "
            "sys.exit(main(config=Path(sys.argv[1]), output=Path(sys.argv[2])))"
        )
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", program, str(config), folder],
            env={**os.environ, "PYTHONPATH": os.curdir},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise OpsError(done.stderr.strip() or f"app.py ended with {done.returncode}")
        yield Path(folder)
