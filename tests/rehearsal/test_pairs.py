"""What `hyperpod-cdk rehearse matrix` says of the rows of pairs."""

import json
import shutil
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.checks.eks.closed_network import closed_network
from hyperpod_rehearsal import commands, pairs, run
from hyperpod_rehearsal.pairs import ROWS, rows_line, write_row
from hyperpod_rehearsal.run import Played
from tests.support.commands import kept_signals
from tests.support.configs import CONFIG_FOLDER
from tests.support.stages import InProcessStage

IN_ANOTHER_VPC = {
    "name": "pair",
    "region": "us-west-2",
    "cluster": {
        "instance_groups": [{"name": "a", "instance_type": "ml.m5.2xlarge", "instance_count": 1}]
    },
    "storage": {"file_system_id": "fs-0fedcba9876543210"},
}


@pytest.mark.whole
@pytest.mark.slow(seconds=20)
def test_a_row_that_deploy_refuses_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(IN_ANOTHER_VPC) + "\n")
    monkeypatch.setattr(pairs, "ROWS", rows)
    monkeypatch.setattr(run, "Stage", InProcessStage)
    monkeypatch.setattr(commands, "play_all", lambda *_, **__: [])
    monkeypatch.chdir(tmp_path)

    with kept_signals():
        assert commands.matrix([], quarter=0) == 0

    said = capsys.readouterr().out
    [_, reason, _, counts, *_] = said[said.index("  --   row-0") :].splitlines()
    assert ": storage.file_system_id: 'fs-0fedcba9876543210' is in vpc-" in reason
    assert "the deployment makes a VPC of its own; name vpc-" in reason
    assert counts == "Rows of pairs: 0 deployed, 1 refused before anything changed, 0 failed."


def test_nodes_of_a_row_in_a_closed_network_can_pull_images(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]
    closed = [row for row in rows if (row.get("network") or {}).get("closed")]
    assert closed
    shutil.copytree(CONFIG_FOLDER / "examples", tmp_path / "rows")
    for row in closed:
        path = tmp_path / "rows" / "row.yaml"
        write_row(row, path=path)
        config = load_config(path)
        assert config.control_plane is None or not [*closed_network(config)]


def test_rows_are_counted_by_what_came_of_them() -> None:
    deployed = Played(config="row-1", scenario="(deployed)")
    failed = Played(config="row-5", scenario="(deployed)", wrong=("a node is missing",))
    refused = Played(config="row-9", scenario="(refused)", wrong=("no role",), applies=False)
    assert rows_line([deployed, failed, refused, deployed, refused]) == (
        "Rows of pairs: 2 deployed, 2 refused before anything changed, 1 failed."
    )
