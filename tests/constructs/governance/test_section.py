"""What a quota, a team and a priority cannot be, each in one line."""

from typing import Any

import pytest

from tests.support.configs import default_document
from tests.support.refusals import lines_for

_TYPE = "ml.g5.12xlarge"
_QUOTA: dict[str, Any] = {"instance_type": _TYPE, "nodes": 1}
_TEAM: dict[str, Any] = {"name": "research", "quota": [_QUOTA]}
_NAME = "must be lower-case letters, digits and inner hyphens, at most 40"
_TEAM_PATH = "governance.teams[0]"


def _team(**changes: Any) -> dict[str, Any]:
    return {"teams": [_TEAM | changes]}


def _quota(**amounts: Any) -> dict[str, Any]:
    return _team(quota=[{"instance_type": _TYPE, **amounts}])


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ({"teams": []}, "governance.teams: [] must list at least one team"),
        ({"teams": [{"name": "research"}]}, f"{_TEAM_PATH}.quota: is missing and has no default"),
        (_team(quota=[]), f"{_TEAM_PATH}.quota: [] must list at least one instance type"),
        ({"teams": [_TEAM, _TEAM]}, "governance.teams[1].name: 'research' must be there once"),
        (_team(name="Research"), f"{_TEAM_PATH}.name: 'Research' {_NAME}"),
        # The API's own pattern takes longer than a deployment to refuse this one.
        (_team(name=f"{'a' * 38}_"), f"{_TEAM_PATH}.name: '{'a' * 38}_' {_NAME}"),
        (_team(name="a" * 41), _NAME),
        (_team(weight=101), f"{_TEAM_PATH}.weight: 101 must be 0 to 100"),
        (_team(weight=float("nan")), f"{_TEAM_PATH}.weight: .nan must be a whole number"),
        (_team(borrow_limit_percent=501), "borrow_limit_percent: 501 must be 1 to 500"),
        (_team(sharing="Lend", borrow_limit_percent=10), "with sharing Lend the team borrows noth"),
        (_team(sharing="Give"), f"{_TEAM_PATH}.sharing: 'Give' is not a possible value"),
        (
            _team(quota=[_QUOTA, _QUOTA | {"nodes": 2}]),
            "quota[1].instance_type: 'ml.g5.12xlarge' must be there once in a team's quota",
        ),
        (_quota(), "quota[0].nodes: is missing: give nodes, accelerators, vcpus, memory_gib or a"),
        (_quota(nodes=-1), "quota[0].nodes: -1 must be 1 to 10000000"),
        (_quota(nodes=0.5), "quota[0].nodes: 0.5 must be a whole number"),
        (_quota(nodes=1, vcpus=2), "quota[0].nodes: 1 must be left out with vcpus"),
        (
            _quota(accelerators=1, partition={"type": "mig-1g.5gb", "count": 1}),
            "quota[0].partition: 'mig-1g.5gb' must be left out with accelerators",
        ),
        (
            {"teams": [_TEAM], "priority_classes": [{"name": "a", "weight": 1}] * 2},
            "governance.priority_classes[1]: {'name': 'a', 'weight': 1} is listed twice; list each",
        ),
        (
            {
                "teams": [_TEAM],
                "priority_classes": [{"name": "a", "weight": n} for n in (1, 2)],
            },
            "governance.priority_classes[1].name: 'a' must be there once",
        ),
        (
            {
                "teams": [_TEAM],
                "priority_classes": [{"name": f"p{n}", "weight": n} for n in range(11)],
            },
            "governance.priority_classes: ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', ...] must list 0 to",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(section: dict[str, Any], line: str) -> None:
    [found] = lines_for(default_document() | {"governance": section})
    assert line in found
