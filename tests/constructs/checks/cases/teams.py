"""Rules on teams."""

from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.checks.eks.team_claims import team_claims
from hyperpod_cdk.checks.eks.team_people import team_people
from hyperpod_cdk.checks.eks.team_quotas import team_quotas
from tests.support.rule_cases import CPU, ERROR, Cases, config

_ANN, _BEN = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Ann", "Ben"))
_QUOTA = [{"instance_type": CPU, "nodes": 1}]


def _team(**changes: Any) -> dict[str, Any]:
    return {"teams": [{"name": "other"}, {"name": "research", **changes}]}


def _claimed(*claims: dict[str, Any], **changes: Any) -> Config:
    return config(storage={"claims": [*claims]}, **_team(**changes))


_IN_TEAM = {"namespace": "hyperpod-ns-research"}

CASES: Cases = {}
CASES[team_quotas] = {
    "none": config(**_team()),
    "governed": config(governance={}, **_team(quota=_QUOTA)),
    "without governance": (config(**_team(quota=_QUOTA)), (ERROR, "teams[1].quota")),
    "governance alone": (config(governance={}, **_team()), (ERROR, "governance")),
}
CASES[team_people] = {
    "of their own": config(eks={"admins": [_ANN]}, **_team(editors=[_BEN], viewers=[_BEN])),
    "an admin who edits": (
        config(eks={"admins": [_ANN]}, **_team(editors=[_BEN, _ANN])),
        (ERROR, "teams[1].editors[1]"),
    ),
    "an admin who looks on": (
        config(eks={"admins": [_ANN]}, **_team(viewers=[_ANN])),
        (ERROR, "teams[1].viewers[0]"),
    ),
}
CASES[team_claims] = {
    "no file system": config(storage=None, **_team()),
    "of another namespace": _claimed({}),
    "of another name": _claimed({**_IN_TEAM, "name": "data"}),
    "without a directory": _claimed(_IN_TEAM, directory=None),
    "of the same name": (_claimed(_IN_TEAM), (ERROR, "storage.claims[0]")),
}
