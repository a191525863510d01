"""The report that `make deploy` leaves behind, whatever came of it."""

from pathlib import Path

import pytest

from hyperpod_cdk import Config
from scripts.deploy import reporting
from scripts.deployment_report.content import Attempt
from scripts.stack_operations.events import StackEvent
from tests.conftest import Assemble
from tests.support.stack_events import event

NAME = "ml-hyperpod"
DONE = [event(NAME, "CREATE_IN_PROGRESS"), event(NAME, "CREATE_COMPLETE", 9)]
FAILED = [event(NAME, "CREATE_IN_PROGRESS"), event(NAME, "ROLLBACK_COMPLETE", 9)]


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the reports."""
    monkeypatch.setattr(reporting, "REPORTS", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "events", "told", "shortage", "said"),
    [
        (0, DONE, [], "none", ["succeeded.", "is CREATE_COMPLETE", "2 of 2 passed"]),
        (0, DONE, [], "worker: 1 of 2", ["succeeded.", "Missing nodes: worker: 1 of 2", "1 of 2"]),
        (0, [], [], "none", ["succeeded.", "needed no change", "changed nothing"]),
        (1, FAILED, ["no quota"], "", ["failed.", "no quota", "Nothing was checked"]),
        (130, DONE[:1], ["Interrupted."], "", ["was interrupted.", "<p>Interrupted.</p>"]),
    ],
    ids=["done", "short", "unchanged", "failed", "interrupted"],
)
def test_a_report_says_what_came_of_it(
    reports: Path,
    default_config: Config,
    assemble: Assemble,
    code: int,
    events: list[StackEvent],
    told: list[str],
    shortage: str,
    said: list[str],
) -> None:
    attempt = Attempt(
        command="make deploy",
        assembly=assemble(default_config).directory,
        events={NAME: events},
        told=told,
    )
    line = reporting.write_report(
        attempt,
        config=default_config,
        region="us-west-2",
        code=code,
        outputs={NAME: {"HyperPodClusterShortage": shortage}} if shortage else {},
    )
    path = reports / "ml" / "report.html"
    assert line == f"Report: {path}"
    html = path.read_text("utf-8")
    assert [each for each in said if each not in html] == []


def test_where_it_cannot_be_written_the_deployment_is_told_all_the_same(
    reports: Path, default_config: Config, assemble: Assemble
) -> None:
    (reports / "ml").touch()
    attempt = Attempt(command="make deploy", assembly=assemble(default_config).directory, events={})
    line = reporting.write_report(
        attempt, config=default_config, region="us-west-2", code=0, outputs={}
    )
    assert line.startswith("There is no report: ")
