"""The scripts that run as root on every node have no shellcheck finding."""

import re
import subprocess
import sys
from pathlib import Path

from tests.lifecycle.node import REPOSITORY, SCRIPTS


def test_shellcheck_has_no_findings() -> None:
    scripts = [*SCRIPTS.rglob("*.sh"), Path(__file__).with_name("stub.sh")]
    assert len(scripts) > 1
    done = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), "--external-sources", *sorted(scripts)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_step_that_on_create_names_exists() -> None:
    text = (SCRIPTS / "on_create.sh").read_text()
    named = " ".join(re.findall(r"STEPS=\(([^)]*)\)", text)).split()
    assert sorted(named) == sorted(path.stem for path in (SCRIPTS / "steps").glob("*.sh"))
