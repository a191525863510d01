"""The rows of `decide`'s table that are about nodes: how far they have come, and what follows."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_shared.failures import ReportedFailure
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.notes import Notes
from provisioner.hyperpod.steps import Done, Fail, Wait
from tests.support.provisioner.decided import (
    MADE,
    MINUTE,
    NOW,
    OWN,
    UPDATED,
    WANTED,
    look,
    request,
)

CREATE, UPDATE, LATE_UPDATE = request("Create"), request("Update"), request("Update", minutes=60)
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


def updated(arrivals: Arrivals, *, notes: Notes = UPDATED, **more: Any) -> Look:
    return look(more.pop("asks", UPDATE), "InService", notes, count=2, arrivals=arrivals, **more)


STEPS: dict[str, tuple[Look, type]] = {
    "created, and the node is there": (
        look(CREATE, "InService", MADE, arrivals=nodes("Running", 1)),
        Done,
    ),
    "updated, and the nodes are there": (updated(nodes("Running", 2)), Done),
    "updated, and a script still runs": (updated(nodes("Pending", 2)), Wait),
    "updated, and the nodes are not known": (updated(Arrivals()), Wait),
    "updated, and each missing node was tried twice": (
        updated(Arrivals(nodes=[], attempts={"workers": 4})),
        Done,
    ),
    "updated, and each missing node was tried once": (
        updated(Arrivals(nodes=[], attempts={"workers": 2})),
        Wait,
    ),
    "updated, and the script failed on each node twice": (
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 4})),
        Fail,
    ),
    "updated, and the script failed once": (
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 1})),
        Wait,
    ),
    "updated, and the script failed once until it is late": (
        updated(Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 1}), asks=LATE_UPDATE),
        Fail,
    ),
    "updated, and not all that failed was the script": (
        updated(Arrivals(nodes=[], failures=[SCRIPT, EFA], attempts={"workers": 4})),
        Done,
    ),
    "updated, and one node survived the script": (
        updated(nodes("Running", 1, failures=[SCRIPT], attempts={"workers": 4})),
        Done,
    ),
    "updated, and the nodes are in checks": (
        updated(nodes(CHECKING, 2, launched=NOW - 5 * MINUTE)),
        Wait,
    ),
    "updated, and the nodes are in checks for long": (
        updated(nodes(CHECKING, 2, launched=NOW - 20 * MINUTE)),
        Done,
    ),
    "updated, and the training plan begins later": (
        updated(Arrivals(nodes=[]), workers={"TrainingPlanStatus": "Scheduled"}),
        Done,
    ),
    "updated, and the training plan has begun": (
        updated(Arrivals(nodes=[]), workers={"TrainingPlanStatus": "Active"}),
        Wait,
    ),
    "nothing to do, and nodes are missing": (
        updated(Arrivals(nodes=[]), asks=replace(UPDATE, former=WANTED), notes=OWN),
        Done,
    ),
}


@pytest.mark.parametrize(("seen", "step"), STEPS.values(), ids=STEPS)
def test_decide(seen: Look, step: type) -> None:
    assert type(decide(seen)) is step
