"""What a rehearsal refuses, each in one line; what the app refuses is told as the app tells it."""

import errno
import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal import __main__ as command
from rehearsal.run import Rehearsal
from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS


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
        timeout=PATIENCE_SECONDS,
    )

    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("ml-hyperpod/Cluster: the request for the HyperPod cluster has ")
    report = json.loads((tmp_path / "work" / "report.json").read_text())
    assert (report["ok"], report["error"]) == (False, line)


def test_it_does_not_wait_for_the_cdk() -> None:
    program = "import sys, rehearsal.__main__; sys.exit('aws_cdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=False)
    assert done.returncode == 0


def test_two_rehearsals_do_not_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["rehearsal", "run", "--work-directory", str(tmp_path)])
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert command.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{tmp_path}: another rehearsal is running in it; wait for its end")


def test_a_full_disk_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Rehearsal, "run", full)
    monkeypatch.setattr("sys.argv", ["rehearsal", "run", "--work-directory", str(tmp_path)])
    assert command.main() == 2
    assert capsys.readouterr().err == f"{tmp_path}: the disk is full; free some space.\n"
