"""The official chart is packaged only for a configuration that needs it."""

from pathlib import Path

import pytest

from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME
from tests.support.commands import run

CONFIG = """\
name: ml
cluster:
  instance_groups:
    - {name: worker, instance_type: ml.g5.xlarge, instance_count: 1}
"""


def _run(folder: Path, config: str) -> int:
    (folder / "mine.yaml").write_text(config)
    # Pins that do not exist: packaging would fail.
    options: list[str | Path] = ["--pins", folder / "pins.yaml", "--output", folder]
    return run("charts", *options, "--if-needed-by", folder / "mine.yaml")


def test_not_for_a_chart_of_ones_own(tmp_path: Path, chart: Path) -> None:
    assert _run(tmp_path, f"{CONFIG}helm: {{chart: {chart}}}\n") == 0


def test_not_in_the_shell_of_a_rehearsal(
    tmp_path: Path, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(chart))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert _run(tmp_path, CONFIG) == 0


@pytest.mark.parametrize("endpoint", ["", "https://cloudformation.us-west-2.amazonaws.com"])
def test_a_stand_in_is_for_the_local_aws_alone(
    tmp_path: Path,
    chart: Path,
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(chart))
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert _run(tmp_path, CONFIG) == 2
    assert "is for a rehearsal's AWS" in capsys.readouterr().err


def test_a_stand_in_that_is_gone_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(tmp_path / "gone"))
    assert _run(tmp_path, CONFIG) == 2
    assert capsys.readouterr().err.startswith(f"REHEARSAL_CHART: {tmp_path}/gone does not exist; ")


def test_not_when_the_package_is_there(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE_NAME).write_bytes(b"")
    assert _run(tmp_path, CONFIG) == 0


def test_packaged_when_it_is_missing(tmp_path: Path) -> None:
    assert _run(tmp_path, CONFIG) == 1


def test_a_wrong_configuration_is_reported_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, f"{CONFIG}nmae: x\n") == 2
    assert "'nmae' is not a key here; did you mean name?" in capsys.readouterr().err
