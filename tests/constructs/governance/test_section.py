"""What a quota, a team and a priority cannot be, each in one line."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import default_document
from tests.support.refusals import lines_for

_TYPE = "ml.g5.12xlarge"
_QUOTA: dict[str, Any] = {"instance_type": _TYPE, "nodes": 1}
_TEAM: dict[str, Any] = {"name": "research", "quota": [_QUOTA]}
_TEAM_PATH = "governance.teams[0]"


def _team(**changes: Any) -> dict[str, Any]:
    return {"teams": [_TEAM | changes]}


def _quota(**amounts: Any) -> dict[str, Any]:
    return _team(quota=[{"instance_type": _TYPE, **amounts}])


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"teams": []}, "governance.teams"),
        ({"teams": [{"name": "research"}]}, f"{_TEAM_PATH}.quota"),
        (_team(quota=[]), f"{_TEAM_PATH}.quota"),
        ({"teams": [_TEAM, _TEAM]}, "governance.teams[1].name"),
        (_team(name="Research"), f"{_TEAM_PATH}.name"),
        # The API's own pattern takes longer than a deployment to refuse this one.
        (_team(name=f"{'a' * 38}_"), f"{_TEAM_PATH}.name"),
        (_team(name="a" * 41), f"{_TEAM_PATH}.name"),
        (_team(weight=101), f"{_TEAM_PATH}.weight"),
        (_team(weight=float("nan")), f"{_TEAM_PATH}.weight"),
        (_team(borrow_limit_percent=501), "borrow_limit_percent"),
        (_team(sharing="Lend", borrow_limit_percent=10), "borrow_limit_percent"),
        (_team(sharing="Give"), f"{_TEAM_PATH}.sharing"),
        (_team(quota=[_QUOTA, _QUOTA | {"nodes": 2}]), "quota[1].instance_type"),
        (_quota(), "quota[0].nodes"),
        (_quota(nodes=-1), "quota[0].nodes"),
        (_quota(nodes=0.5), "quota[0].nodes"),
        (_quota(nodes=1, vcpus=2), "quota[0].nodes"),
        (
            _quota(accelerators=1, partition={"type": "mig-1g.5gb", "count": 1}),
            "quota[0].partition",
        ),
        (
            {"teams": [_TEAM], "priority_classes": [{"name": "a", "weight": 1}] * 2},
            "governance.priority_classes[1]",
        ),
        (
            {"teams": [_TEAM], "priority_classes": [{"name": "a", "weight": n} for n in (1, 2)]},
            "governance.priority_classes[1].name",
        ),
        (
            {
                "teams": [_TEAM],
                "priority_classes": [{"name": f"p{n}", "weight": n} for n in range(11)],
            },
            "governance.priority_classes",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    section: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (line,) = lines_for(default_document() | {"governance": section})

    assert place in line.partition(": ")[0]
    assert line == snapshot
