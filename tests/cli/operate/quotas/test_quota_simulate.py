"""`hyperpod-cdk quota simulate`: what it reads, shows, draws and refuses."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.support.commands import Said, ran
from tests.support.configs import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "quotas"
JOBS, CURRENT, PROPOSED = (EXAMPLE / n for n in ("jobs.csv", "current.yaml", "proposed.yaml"))
_HEADER = "submitted,team,priority,instance_type,nodes,accelerators,minutes,name\n"
_LINE = "0,research,training,ml.g5.12xlarge,1,,60,one\n"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


def simulated(*options: str | Path, jobs: Path = JOBS) -> Said:
    return ran("quota", "simulate", "--jobs", jobs, "--config", CURRENT, *options)


def rows(table: str) -> dict[tuple[str, str], list[str]]:
    """Return the cells of each team and configuration."""
    found = {}
    for line in table.splitlines():
        cells = re.split(r"  +", line.strip())
        if len(cells) == 11 and cells[0] != "team":
            found[cells[0], cells[1]] = cells[2:]
    return found


def test_quotas_are_compared(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    picture = tmp_path / "who.svg"
    code, out, err = simulated("--proposed", PROPOSED, "--picture", picture)

    assert (code, err) == (0, "")
    table = rows(out)
    # Jobs, mean and p95 wait, borrowed, made room, lost; from the jobs' own times.
    assert table["evaluation", "configured"][:6] == ["5", "0.1", "0.7", "0.0", "0", "0.0"]
    assert table["all", "configured"][0] == "15"
    assert table["all", "proposed"][0] == "16"
    assert table["product", "proposed"][1:3] == ["0.0", "0.0"]
    assert table["(in no quota)", "proposed"][0] == "0"
    never = [line for line in out.splitlines() if line.startswith("never runs")]
    assert never == snapshot
    drawn = ET.fromstring(picture.read_text("utf-8"))  # noqa: S314 - its own
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"research", "product", "evaluation"} <= {*texts}
    assert [text.partition(":")[0] for text in texts if ".yaml" in text] == [
        "configured",
        "proposed",
    ]


def test_the_sums_are_those_of_the_nodes() -> None:
    code, out, _ = simulated("--json", "--proposed", PROPOSED)
    found: dict[str, Any] = json.loads(out)

    assert code == 0
    for each in found.values():
        *teams, everything = each["teams"]
        for key in ("jobs", "preemptions", "borrowed_node_hours", "idle_node_hours", "idle_usd"):
            assert sum(row[key] for row in teams) == pytest.approx(everything[key], abs=0.05)
        # Eight nodes from the first job until the last ends, but for what ran.
        hours = _hours(each["ends"]) - _hours("2026-11-02T08:00Z")
        ran = sum(
            _nodes(run["job"]) * (_hours(run["end"]) - _hours(run["start"])) for run in each["runs"]
        )
        assert everything["idle_node_hours"] == pytest.approx(8 * hours - ran)
    assert found["configured"]["never"] == ["pretrain-b"]


def test_checkpoints_save_what_was_done() -> None:
    lost = {}
    for options in ((), ("--checkpoint-minutes", "30")):
        _, out, _ = simulated("--json", "--proposed", PROPOSED, *options)
        lost[options] = json.loads(out)["proposed"]["teams"][-1]["lost_node_hours"]

    assert 0 < lost["--checkpoint-minutes", "30"] < lost[()]


def _hours(moment: str) -> float:
    day, time = moment.removesuffix("Z").split("T")
    hours, minutes = time.split(":")
    return 24 * int(day[-2:]) + int(hours) + int(minutes) / 60


def _nodes(name: str) -> float:
    line = next(each for each in JOBS.read_text("utf-8").splitlines() if each.endswith(f",{name}"))
    nodes, accelerators = line.split(",")[4:6]
    return int(nodes or 0) + int(accelerators or 0) / 4


MISTAKES = {
    "empty": "",
    "no job": _HEADER,
    "no times": "team,minutes,nodes\n",
    "no sizes": "submitted,team,instance_type,minutes\n",
    "other column": _HEADER.replace("name", "title"),
    "column twice": _HEADER.replace("name", "team"),
    "few cells": _HEADER + _LINE + "1,research\n",
    "no size": _HEADER + _LINE.replace(",1,,", ",,,"),
    "two sizes": _HEADER + _LINE.replace(",1,,", ",1,2,"),
    "nodes": _HEADER + _LINE.replace(",1,,", ",-1,,"),
    "no time": _HEADER + _LINE.replace(",60,", ",0,"),
    "odd time": _HEADER + _LINE.replace(",60,", ",nan,"),
    "team": _HEADER + _LINE.replace("research", "sales"),
    "priority": _HEADER + _LINE.replace("training", "top"),
    "no type": _HEADER + _LINE.replace("g5", "g99"),
    "type of no group": _HEADER + _LINE.replace("g5.12", "p5.48"),
    "time after a number": _HEADER + _LINE + "2026-11-02T08:00" + _LINE[1:],
    "no date": _HEADER + "noon" + _LINE[1:],
    "end of time": _HEADER + "9999-12-31T23:59" + _LINE[1:],
    "no accelerators": _HEADER + _LINE.replace("ml.g5.12xlarge,1,,", "ml.m5.4xlarge,,1,"),
    "no CSV": 'submitted,"team',
}


@pytest.mark.parametrize("text", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_a_line_with_its_place(
    text: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(text, "utf-8")
    code, out, err = simulated(jobs=jobs)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.replace(f"{tmp_path}/", "").replace(f"{REPOSITORY}", "PROJECT") == snapshot


def test_files_that_are_of_no_use(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    alone = tmp_path / "alone.yaml"
    content = yaml.safe_load(CURRENT.read_text("utf-8"))
    del content["governance"], content["teams"]
    alone.write_text(yaml.safe_dump(content), "utf-8")
    for code, _, err in (
        simulated(jobs=tmp_path / "none.csv"),
        simulated("--picture", "who.png"),
        simulated("--proposed", alone),
    ):
        assert (code, err.count("\n")) == (2, 1)
        assert err.replace(f"{tmp_path}/", "") == snapshot


def test_all_mistakes_are_told_up_to_ten(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(_HEADER + 30 * _LINE.replace(",60,", ",x,"), "utf-8")
    code, _, err = simulated(jobs=jobs)

    assert code == 2
    assert err.splitlines()[-1] == "and 20 more lines"
    assert len(err.splitlines()) == 11


def test_the_page_shows_what_the_command_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(REPOSITORY)
    page = (REPOSITORY / "docs" / "governance.md").read_text("utf-8")
    block = page.partition("<!-- quotas -->\n```\n$ hyperpod-cdk ")[2].partition("\n```\n")[0]
    typed, _, says = block.partition("\n")

    picture = tmp_path / "quotas.svg"
    said = ran(*typed.replace("docs/quotas.svg", str(picture)).split())
    shown = said.out.replace(str(picture), "docs/quotas.svg")
    assert said.code == 0
    assert [line.rstrip() for line in shown.strip().splitlines()] == says.splitlines()
    drawn = (REPOSITORY / "docs" / "quotas.svg").read_text("utf-8")
    assert picture.read_text("utf-8") == drawn
