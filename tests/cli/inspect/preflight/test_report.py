"""How a report reads, and its exit code."""

import json
from pathlib import Path

import pytest

from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.inspect.preflight.report import Report
from hyperpod_cli.inspect.preflight.run import Outcome, Status, exit_code
from hyperpod_cli.inspect.preflight.validator import Problem
from tests.cli.inspect.preflight.test_run import PLACE

COLUMNS = 80
LONG = f"aws eks describe-cluster --name {'a' * COLUMNS}"
WRONG = Problem(finding=error(("eks", "version"), "1.34", "is wrong; do that"), command=LONG)
ODD = Problem(finding=warning((), "aws", "is not on the PATH"), command="command -v aws")
FINE = Outcome(name="fine")
OUTCOMES = (
    (FINE, Status.OK, 0),
    (Outcome(name="odd", problems=(ODD,)), Status.WARNING, 0),
    (Outcome(name="denied", missing_permission="eks:ListClusters"), Status.NOT_PERMITTED, 0),
    (Outcome(name="slow", failure="Throttling: Rate exceeded"), Status.NO_ANSWER, 2),
    (Outcome(name="wrong", problems=(ODD, WRONG), failure="and slow"), Status.BLOCKED, 1),
)


@pytest.mark.parametrize(("outcome", "status", "code"), OUTCOMES)
def test_the_worst_counts(outcome: Outcome, status: Status, code: int) -> None:
    assert outcome.status is status
    assert exit_code([FINE, outcome, FINE]) == code


def test_what_would_fail_counts_more_than_what_is_not_known() -> None:
    assert exit_code([each for each, _, _ in reversed(OUTCOMES)]) == 1
    assert exit_code([]) == 0


def shown(repository: Path, *, as_json: bool, capsys: pytest.CaptureFixture[str]) -> str:
    file = read_yaml(repository / "config" / "default.yaml")
    outcomes = tuple(outcome for outcome, _, _ in OUTCOMES)
    Report(outcomes=outcomes, file=file, place=PLACE).show(as_json=as_json)
    return capsys.readouterr().out


def test_it_fits_a_terminal_but_for_commands_which_can_be_copied(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    said = shown(repository, as_json=False, capsys=capsys)
    command = f"    {LONG} --region us-west-2"
    assert [line for line in said.splitlines() if len(line) > COLUMNS] == [command]
    together = " ".join(said.split())
    for part in (
        "fine ok",
        "odd warning 'aws' is not on the PATH command -v aws",
        "denied not permitted you may not use eks:ListClusters; `make deployer-policy` writes",
        "slow no answer Throttling: Rate exceeded;",
        "wrong blocked",
    ):
        assert part in together


def test_a_program_reads_all_of_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(repository, as_json=True, capsys=capsys))
    assert [row["status"] for row in rows] == [str(status) for _, status, _ in OUTCOMES]
    assert rows[2]["missing_permission"] == "eks:ListClusters"
    [_, wrong] = rows[4]["problems"]
    assert wrong["message"].endswith("eks.version: '1.34' is wrong; do that")
    assert wrong["command"] == f"{LONG} --region us-west-2"
