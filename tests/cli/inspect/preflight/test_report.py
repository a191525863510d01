"""How a report reads, and its exit code."""

import json
from pathlib import Path

import pytest

from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.inspect.preflight.report import PreflightReport
from hyperpod_cli.inspect.preflight.run import Status, ValidatorResult, exit_code
from hyperpod_cli.inspect.preflight.validator import Problem
from tests.cli.inspect.preflight.test_run import TARGET

COLUMNS = 80
LONG = f"aws eks describe-cluster --name {'a' * COLUMNS}"
WRONG = Problem(finding=error(("eks", "version"), "1.34", "is wrong; do that"), command=LONG)
ODD = Problem(finding=warning((), "aws", "is not on the PATH"), command="command -v aws")
FINE = ValidatorResult(name="fine")
RESULTS = (
    (FINE, Status.OK, 0),
    (ValidatorResult(name="odd", problems=(ODD,)), Status.WARNING, 0),
    (
        ValidatorResult(name="denied", missing_permission="eks:ListClusters"),
        Status.NOT_PERMITTED,
        0,
    ),
    (ValidatorResult(name="slow", failure="Throttling: Rate exceeded"), Status.NO_ANSWER, 2),
    (ValidatorResult(name="wrong", problems=(ODD, WRONG), failure="and slow"), Status.BLOCKED, 1),
)


@pytest.mark.parametrize(("result", "status", "code"), RESULTS)
def test_the_worst_counts(result: ValidatorResult, status: Status, code: int) -> None:
    assert result.status is status
    assert exit_code([FINE, result, FINE]) == code


def test_what_would_fail_counts_more_than_what_is_not_known() -> None:
    assert exit_code([each for each, _, _ in reversed(RESULTS)]) == 1
    assert exit_code([]) == 0


def shown(repository: Path, *, as_json: bool, capsys: pytest.CaptureFixture[str]) -> str:
    file = read_yaml(repository / "config" / "default.yaml")
    found = tuple(result for result, _, _ in RESULTS)
    PreflightReport(results=found, file=file, target=TARGET).show(as_json=as_json)
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
    assert [row["status"] for row in rows] == [str(status) for _, status, _ in RESULTS]
    assert rows[2]["missing_permission"] == "eks:ListClusters"
    [_, wrong] = rows[4]["problems"]
    assert wrong["message"].endswith("eks.version: '1.34' is wrong; do that")
    assert wrong["command"] == f"{LONG} --region us-west-2"
