"""The rows of `decide`'s table that are about nodes: how far they have come, and what follows."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from provisioner.hyperpod.claim import Claim
from provisioner.hyperpod.found import Done, Fail, Found, Wait

from hyperpod_shared.failures import ReportedFailure
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.decision import decide
from tests.support.provisioner.decided import (
    LATE,
    MADE,
    MINUTE,
    NOW,
    OWN,
    UPDATED,
    WANTED,
    found,
    request,
)

CREATE, UPDATE, LATE_UPDATE = request("Create"), request("Update"), request("Update", claim=LATE)
LATE_UPDATED = LATE.after_call("update", now=NOW - 9 * MINUTE)
CHECKING = "DeepHealthCheckInProgress"
SCRIPT = ReportedFailure(
    text="Lifecycle scripts did not run successfully", group="workers", instance="i-1"
)
EFA = ReportedFailure(
    text="EFA health checks did not run successfully", group="workers", instance="i-2"
)


def nodes(status: str, count: int, *, launched: float = NOW, **more: Any) -> Arrivals:
    node = {
        "InstanceGroupName": "workers",
        "InstanceStatus": {"Status": status},
        "LaunchTime": datetime.fromtimestamp(launched, tz=UTC),
    }
    return Arrivals(nodes=[node] * count, **more)


def updated(arrivals: Arrivals, *, claim: Claim = UPDATED) -> Found:
    return replace(found("InService", claim, count=2), arrivals=arrivals)


def _with_plan(status: str) -> Found:
    there = updated(Arrivals(nodes=[]))
    groups = [
        {**group, "TrainingPlanStatus": status} for group in there.described["InstanceGroups"]
    ]
    return replace(there, described={**there.described, "InstanceGroups": groups})


STEPS: dict[str, tuple[ClusterRequest, Found, type]] = {
    "created, and the node is there": (
        CREATE,
        replace(found("InService", MADE), arrivals=nodes("Running", 1)),
        Done,
    ),
    "updated, and the nodes are there": (UPDATE, updated(nodes("Running", 2)), Done),
    "updated, and a script still runs": (UPDATE, updated(nodes("Pending", 2)), Wait),
    "updated, and the nodes are not known": (UPDATE, updated(Arrivals()), Wait),
    "updated, and each missing node was tried twice": (
        UPDATE,
        updated(Arrivals(nodes=[], attempts={"workers": 4})),
        Done,
    ),
    "updated, and each missing node was tried once": (
        UPDATE,
        updated(Arrivals(nodes=[], attempts={"workers": 2})),
        Wait,
    ),
    "updated, and the script failed on each node twice": (
        UPDATE,
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 4})),
        Fail,
    ),
    "updated, and the script failed once": (
        UPDATE,
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 1})),
        Wait,
    ),
    "updated, and the script failed once until it is late": (
        LATE_UPDATE,
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 1}), claim=LATE_UPDATED),
        Fail,
    ),
    "updated, and not all that failed was the script": (
        UPDATE,
        updated(Arrivals(nodes=[], failures=[SCRIPT, EFA], attempts={"workers": 4})),
        Done,
    ),
    "updated, and one node survived the script": (
        UPDATE,
        updated(nodes("Running", 1, failures=[SCRIPT], attempts={"workers": 4})),
        Done,
    ),
    "updated, and the nodes are in checks": (
        UPDATE,
        updated(nodes(CHECKING, 2, launched=NOW - 5 * MINUTE)),
        Wait,
    ),
    "updated, and the nodes are in checks for long": (
        UPDATE,
        updated(nodes(CHECKING, 2, launched=NOW - 20 * MINUTE)),
        Done,
    ),
    "updated, and the training plan begins later": (UPDATE, _with_plan("Scheduled"), Done),
    "updated, and the training plan has begun": (UPDATE, _with_plan("Active"), Wait),
    "nothing to do, and nodes are missing": (
        replace(UPDATE, former=WANTED),
        updated(Arrivals(nodes=[]), claim=OWN),
        Done,
    ),
}


@pytest.mark.parametrize(("asks", "there", "step"), STEPS.values(), ids=STEPS)
def test_decide(asks: ClusterRequest, there: Found, step: type) -> None:
    assert type(decide(there, asks)) is step
