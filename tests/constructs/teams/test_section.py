"""What a quota, a team and a priority cannot be, each in one line; and what follows from a name."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import TeamConfig
from tests.support.configs import configured, default_document
from tests.support.refusals import lines_for

_TYPE = "ml.g5.12xlarge"
_QUOTA: dict[str, Any] = {"instance_type": _TYPE, "nodes": 1}
_TEAM: dict[str, Any] = {"name": "research", "quota": [_QUOTA]}
_OTHER = {"name": "product"}
_TEAM_PATH = "teams[0]"
_ANN = "arn:aws:iam::111122223333:role/Ann"


def _team(**changes: Any) -> dict[str, Any]:
    return {"teams": [_TEAM | changes]}


def _quota(**amounts: Any) -> dict[str, Any]:
    return _team(quota=[{"instance_type": _TYPE, **amounts}])


def _two(**changes: Any) -> dict[str, Any]:
    return {"teams": [_TEAM, _OTHER | changes]}


def _users(first: int, count: int = 1000) -> dict[str, Any]:
    return {"user_ids": {"first": first, "count": count}}


@pytest.mark.parametrize(
    ("sections", "place"),
    [
        ({"teams": [{}]}, f"{_TEAM_PATH}.name"),
        ({"teams": [_TEAM, _TEAM]}, "teams[1].name"),
        (_team(name="Research"), f"{_TEAM_PATH}.name"),
        # The API's own pattern takes longer than a deployment to refuse this one.
        (_team(name=f"{'a' * 38}_"), f"{_TEAM_PATH}.name"),
        (_team(name="a" * 41), f"{_TEAM_PATH}.name"),
        (_team(weight=101), f"{_TEAM_PATH}.weight"),
        (_team(weight=float("nan")), f"{_TEAM_PATH}.weight"),
        (_team(borrow_limit_percent=501), "borrow_limit_percent"),
        (_team(sharing="Lend", borrow_limit_percent=10), "borrow_limit_percent"),
        (_team(sharing="Give"), f"{_TEAM_PATH}.sharing"),
        (_team(quota=[], weight=10), f"{_TEAM_PATH}.weight"),
        (_team(quota=[_QUOTA, _QUOTA | {"nodes": 2}]), "quota[1].instance_type"),
        (_quota(), "quota[0].nodes"),
        (_quota(nodes=-1), "quota[0].nodes"),
        (_quota(nodes=0.5), "quota[0].nodes"),
        (_quota(nodes=1, vcpus=2), "quota[0].nodes"),
        (
            _quota(accelerators=1, partition={"type": "mig-1g.5gb", "count": 1}),
            "quota[0].partition",
        ),
        (_team(namespaces=["own"]), f"{_TEAM_PATH}.namespaces"),
        (_two(namespaces=[]), "teams[1].namespaces"),
        (_two(namespaces=["kube-system"]), "teams[1].namespaces[0]"),
        (_two(namespaces=["dev-*"]), "teams[1].namespaces[0]"),
        (_two(namespaces=["hyperpod-ns-research"]), "teams[1].namespaces[0]"),
        (_two(editors=[_ANN, _ANN]), "teams[1].editors[1]"),
        (_two(viewers=["Ann"]), "teams[1].viewers[0]"),
        (_two(directory="research"), "teams[1].directory"),
        (_two(directory="/research/product"), "teams[1].directory"),
        (_two(**_users(0)), "teams[1].user_ids.first"),
        (_two(**_users(2**31 - 2)), "teams[1].user_ids.count"),
        # The users of the other one are 686024000 to 686024999.
        (_two(**_users(686024999)), "teams[1].user_ids"),
        (_two(trust="all"), "teams[1].trust"),
        ({"governance": {"teams": [_TEAM]}}, "governance.teams"),
        (
            {"governance": {"priority_classes": [{"name": "a", "weight": 1}] * 2}},
            "governance.priority_classes[1]",
        ),
        (
            {"governance": {"priority_classes": [{"name": "a", "weight": n} for n in (1, 2)]}},
            "governance.priority_classes[1].name",
        ),
        (
            {
                "governance": {
                    "priority_classes": [{"name": f"p{n}", "weight": n} for n in range(11)]
                }
            },
            "governance.priority_classes",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    sections: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (line,) = lines_for(default_document() | sections)

    assert place in line.partition(": ")[0]
    assert line == snapshot


def test_what_follows_from_a_name_stays_as_it_is_beside_others() -> None:
    names = [f"team-{number}" for number in range(50)]
    alone = [TeamConfig(name=name) for name in names]
    together = configured({"teams": [{"name": name} for name in reversed(names)]}).teams

    assert tuple(reversed(together)) == tuple(alone)
    assert alone[0].namespaces == ("hyperpod-ns-team-0",)
    assert alone[0].directory == "/team-0"
    assert all(team.user_ids.count == 1000 for team in alone)


def test_access_and_claims_of_teams_are_beside_those_of_editors() -> None:
    team = {"name": "research", "namespaces": ["a", "b"], "editors": [_ANN], **_users(20000)}
    config = configured(
        {
            "eks": {"editors": [{"namespaces": ["own"], "principals": [_ANN]}]},
            "storage": {"claims": [{}]},
            "teams": [team, _OTHER | {"directory": None}],
        }
    )
    storage = config.storage_of_teams
    assert storage is not None

    assert [(path, each.namespaces, each.principals) for path, each in config.editors] == [
        (("eks", "editors", 0), ("own",), (_ANN,)),
        (("teams", 0), ("a", "b"), (_ANN,)),
        (("teams", 1), ("hyperpod-ns-product",), ()),
    ]
    assert [(each.namespace, each.directory, each.owner) for each in storage.claims] == [
        ("default", None, None),
        ("a", "/research", 20000),
        ("b", "/research", 20000),
    ]
