"""What the app refuses is told by a rehearsal as `python app.py` tells it."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.configs import REPOSITORY


def test_a_request_that_is_too_large_is_one_line(tmp_path: Path) -> None:
    labels = {f"label-{number}": "x" * 60 for number in range(50)}
    group = {"instance_type": "ml.m5.2xlarge", "instance_count": 1, "labels": labels}
    groups = [{"name": f"group-{number}", **group} for number in range(50)]
    config = tmp_path / "large.yaml"
    config.write_text(json.dumps({"name": "ml", "cluster": {"instance_groups": groups}}))

    options = ["--config", str(config), "--work-directory", str(tmp_path / "work")]
    done = subprocess.run(
        [sys.executable, "-m", "rehearsal", "run", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("ml-hyperpod/Cluster: the request for the HyperPod cluster has ")
    report = json.loads((tmp_path / "work" / "report.json").read_text())
    assert (report["ok"], report["error"]) == (False, line)
