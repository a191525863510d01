"""What `hyperpod-cdk rehearse matrix` says of the rows of pairs."""

import json
from pathlib import Path

import pytest

from hyperpod_rehearsal import commands, pairs, run
from hyperpod_rehearsal.pairs import rows_line
from hyperpod_rehearsal.run import Played
from tests.support.commands import kept_signals
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


def test_rows_are_counted_by_what_came_of_them() -> None:
    deployed = Played(config="row-1", scenario="(deployed)")
    failed = Played(config="row-5", scenario="(deployed)", wrong=("a node is missing",))
    refused = Played(config="row-9", scenario="(refused)", wrong=("no role",), applies=False)
    assert rows_line([deployed, failed, refused, deployed, refused]) == (
        "Rows of pairs: 2 deployed, 2 refused before anything changed, 1 failed."
    )
