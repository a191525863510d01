"""What the scenario training-survives judges, draws, and asks of the machine."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal import training
from hyperpod_rehearsal.commands import rehearse
from hyperpod_rehearsal.scenarios import training_survives
from hyperpod_rehearsal.training import Said, TrainingReport
from hyperpod_rehearsal.training_picture import picture
from tests.conftest import Raises
from tests.support.commands import kept_signals
from tests.support.configs import REPOSITORY

DEFAULT = REPOSITORY / "config" / "default.yaml"

FAULT = 100.0
SAVED, LAST, END = 80, 105, training_survives._STEPS


def loss(step: int) -> float:
    return 10.0 / step


def said(
    *, resumed: int = SAVED, begins: int = SAVED + 1, missing: int = 0, worse: int = 0
) -> Iterator[Said]:
    """Yield what a job says that is interrupted once.

    Args:
        resumed: Step of the checkpoint from which it goes on.
        begins: Its first step afterwards.
        missing: A step that it never does.
        worse: A step that has another loss afterwards.
    """
    for step in range(1, LAST + 1):
        if step != missing:
            fields = {"event": "step", "step": step, "loss": loss(step)}
            yield Said(FAULT - LAST + step, fields)
    yield Said(FAULT - 1, {"event": "saved", "step": SAVED})
    yield Said(FAULT + 10, {"event": "resumed", "step": resumed})
    for step in range(begins, END + 1):
        if step != missing:
            changed = loss(step) + (1.0 if step == worse else 0.0)
            yield Said(FAULT + step * 1.0004, {"event": "step", "step": step, "loss": changed})
    yield Said(FAULT + END, {"event": "done", "step": END})


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, [True, True, True]),
        ({"resumed": 40, "begins": 41}, [True, False, True]),
        ({"begins": SAVED + 2}, [True, False, False]),
        ({"missing": 50}, [True, False, True]),
        ({"missing": 1}, [True, False, False]),
        ({"missing": END}, [True, False, False]),
        ({"worse": 90}, [True, True, False]),
        ({"worse": END}, [True, True, False]),
    ],
)
def test_a_job_survives_only_if_it_goes_on_where_its_checkpoint_ends(
    changes: dict[str, int], verdicts: list[bool]
) -> None:
    facts = [*training_survives._judged([*said(**changes)], fault=FAULT)]
    assert [fact.ok for fact in facts] == verdicts


def test_a_job_that_does_not_go_on_has_not_survived() -> None:
    before = [each for each in said() if each.time < FAULT]
    [fact] = training_survives._judged(before, fault=FAULT)
    assert not fact.ok


def report() -> TrainingReport:
    return training_survives._report([*said()], fault=FAULT, failed="old", new="new")


def test_the_report_says_what_the_fault_cost(snapshot: SnapshotAssertion) -> None:
    made = report()
    assert (made.checkpoint, made.lost_steps) == (SAVED, LAST - SAVED)
    # Its last step before the fault came at 100 s, and again at 205.042 s.
    assert made.lost_seconds == 105.04
    assert made.points[LAST][:2] == (185.03, SAVED + 1)
    assert made.facts == snapshot


def test_the_picture_has_the_steps_before_and_after_the_fault() -> None:
    drawn = ElementTree.fromstring(picture(report()))  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    lines = [
        each.attrib["d"].split("L")
        for each in drawn.iter(f"{space}path")
        if each.get("class") == "steps"
    ]
    assert [len(points) for points in lines] == [LAST, END - SAVED]
    assert (lines[0][0], lines[-1][-1]) == ("M64.0 306.8 ", "856.0 76.0")
    texts = [each.text for each in drawn.iter(f"{space}text")]
    assert "a GPU node fails" in texts
    assert f"{LAST - SAVED} steps are done again" in texts


def test_without_pytorch_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr(training, "_ENVIRONMENT", tmp_path)
    with kept_signals(), raises(OpsError):
        rehearse(DEFAULT, scenario="training-survives", work_directory=tmp_path / "work")
