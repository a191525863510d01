"""A step of the set-up that is quiet for long says that it lasts."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.configs import REPOSITORY

SCRIPT = REPOSITORY / "tools" / "progress.sh"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A place for temporary files, and ten seconds that are soon over and are counted."""
    sleep = tmp_path / "sleep"
    sleep.write_text(f"#!/bin/sh\necho ten seconds >>{tmp_path}/slept\nexec /bin/sleep 0.05\n")
    sleep.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", "TMPDIR": str(tmp_path / "temporary")}


def ran(environment: dict[str, str], script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", SCRIPT, "sh", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_says_every_ten_seconds_that_it_lasts(
    environment: dict[str, str], tmp_path: Path
) -> None:
    third = f'until [ "$(wc -l <{tmp_path}/slept)" -ge 4 ]; do :; done 2>/dev/null'
    done = ran(environment, f"echo quiet; {third}")

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("  ... 10 s\n  ... 20 s\n  ... 30 s\n")
    assert re.fullmatch(r"(  \.\.\. \d+0 s\n)+", done.stdout)


def test_a_failure_shows_what_the_command_printed(environment: dict[str, str]) -> None:
    done = ran(environment, "echo no such package; echo and why >&2; exit 3")

    assert done.returncode == 3
    assert done.stderr == "no such package\nand why\n"


def test_nothing_is_left(environment: dict[str, str], tmp_path: Path) -> None:
    for script in ("true", "exit 1", f"kill -{signal.SIGINT:d} $PPID"):
        ran(environment, script)

    assert list((tmp_path / "temporary").iterdir()) == []
