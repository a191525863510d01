"""What whoever approves reads of a rehearsal, and of one that there is not."""

import json
import subprocess
from pathlib import Path
from typing import Any

import boto3
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.deliver.pipeline.rehearsed_change import RehearsedChange, rehearse_change

NODE = {"id": "i-1", "pods": ["default/train"]}
FOUND: dict[str, Any] = {
    "code": 0,
    "nodes": [],
    "minutes": None,
    "rollback": None,
    "notes": [],
    "text": "all of it",
}


def rehearsed(
    monkeypatch: pytest.MonkeyPatch, *, code: int = 0, output: str = "", error: str = ""
) -> RehearsedChange:
    def run(command: list[str], *, env: dict[str, str], **_: object) -> object:
        assert command[3:5] == ["hyperpod_cli", "rehearse-change"]
        assert (env["AWS_ACCESS_KEY_ID"], env["AWS_REGION"]) == ("reader", "us-east-1")
        return subprocess.CompletedProcess(command, code, output, error)

    monkeypatch.setattr(subprocess, "run", run)
    session = boto3.Session("reader", "secret", "token", region_name="us-east-1")
    return rehearse_change(Path("prod.yaml"), assembly=Path("assembly"), session=session)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"code": 1},
        {"code": 4, "nodes": [{"ends": 1, "of": [NODE, NODE]}], "minutes": 21},
        {"rollback": {"statuses": {"a": "UPDATE_ROLLBACK_FAILED", "b": "ROLLBACK_COMPLETE"}}},
        {"notes": ["not in the archive: the pods: 403"]},
    ],
)
def test_an_approver_reads_what_would_become_of_it(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    output = json.dumps({**FOUND, **values})
    code = values.get("code", 0)
    change = rehearsed(monkeypatch, code=code, output=output)
    assert change.text == "all of it\n"
    assert change.sentence == snapshot


@pytest.mark.parametrize(
    ("code", "error", "why"),
    [
        (2, "first\nlocal AWS: did not start.\n", "local AWS: did not start"),
        (-9, "", "it ended without a word"),
        (1, f"Traceback\nKeyError: {'x' * 300}\n", f"KeyError: {'x' * 190}"),
    ],
)
def test_an_approver_reads_why_there_is_no_rehearsal(
    monkeypatch: pytest.MonkeyPatch, code: int, error: str, why: str
) -> None:
    found = rehearsed(monkeypatch, code=code, error=error)
    assert found == RehearsedChange(sentence=f"COULD NOT BE REHEARSED: {why}.", text=f"{error}\n")


def test_a_rehearsal_that_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> object:
        raise subprocess.TimeoutExpired("rehearse-change", 900)

    monkeypatch.setattr(subprocess, "run", run)
    session = boto3.Session("reader", "secret", "token", region_name="us-east-1")
    found = rehearse_change(Path("prod.yaml"), assembly=Path("assembly"), session=session)
    assert " 15 minutes" in found.sentence
