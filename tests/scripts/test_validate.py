"""What `make validate` says of a configuration."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import validate


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: Path
) -> tuple[int, list[str], str]:
    monkeypatch.setattr("sys.argv", ["validate", "--config", str(config)])
    code = validate.main()
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err


def test_it_lists_stacks_groups_and_warnings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    path = repository / "config" / "default.yaml"
    code, lines, error = run(monkeypatch, capsys, path)
    assert (code, error) == (0, "")
    assert lines[0] == f"{path} is valid. It deploys:"
    assert lines[1].split()[:3] == ["ml-platform", "in", "us-west-2:"]
    assert lines[2].split() == [
        "ml-addons",
        "CoreDNS",
        "and",
        "the",
        "FSx",
        "for",
        "Lustre",
        "CSI",
        "driver",
    ]
    assert "kept for ever" in lines[3]
    assert lines[5].strip() == "- worker-group-1: 1 x ml.g5.12xlarge"
    assert lines[7].startswith("Cost at list prices of ")
    assert lines[-1].startswith("WARNING eks.admins: [] lets nobody into the Kubernetes cluster")


def test_without_storage_there_is_no_storage_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    _, lines, _ = run(monkeypatch, capsys, repository / "config" / "spot-dev.yaml")
    assert not any("-storage" in line for line in lines)
    assert any(" or ml.g5.4xlarge or " in line for line in lines)


def test_a_configuration_that_cannot_be_deployed_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("name: ML\n")
    code, lines, error = run(monkeypatch, capsys, tmp_path / "bad.yaml")
    assert (code, lines) == (2, [])
    assert error.startswith(f"{tmp_path}/bad.yaml")


def test_it_does_not_wait_for_the_cdk(repository: Path) -> None:
    program = "import sys, scripts.validate; sys.exit('aws_cdk' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], cwd=repository, check=False).returncode == 0
    )
