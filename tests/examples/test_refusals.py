"""What the example apps lack is told in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.configs import REPOSITORY


@pytest.mark.parametrize(
    ("example", "told"),
    [
        ("one_stack", "build/charts/hyperpod-helm-chart.tgz: there is no chart; run `make charts`"),
        ("helm_release", "eks_cluster_name: is missing; add -c eks_cluster_name=NAME"),
    ],
)
def test_what_is_missing_is_told_in_one_line(example: str, told: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "examples" / example / "app.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    *_, last = done.stderr.splitlines()
    assert last.startswith(told)
    assert "Traceback" not in done.stderr
