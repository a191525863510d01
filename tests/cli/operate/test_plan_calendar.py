"""The calendar of training plans: what is said of each, at a time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.plan_calendar import Period, PlanUser, periods

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
END = START + timedelta(days=2)
BEFORE, DURING, AFTER = START - timedelta(hours=5), START + timedelta(hours=1), END
CHOSEN = Chosen(
    name="c",
    session=AwsSession.__new__(AwsSession),
    config=None,
    file=Path("mine.yaml"),
    options=["--config", "mine.yaml"],
)


def user(wanted: int, running: int | None = 0) -> PlanUser:
    return PlanUser(group="trn2", plan="p", wanted=wanted, running=running)


def plan(status: str, **members: Any) -> dict[str, Any]:
    capacity = {
        "InstanceType": "ml.trn2.48xlarge",
        "TotalInstanceCount": 4,
        "StartTime": START,
        "EndTime": END,
    }
    return {"Status": status, "ReservedCapacitySummaries": [capacity], **members}


def said(found: dict[str, Any] | None, *users: PlanUser, now: datetime) -> Period:
    (period,) = periods("p", found, users, chosen=CHOSEN, now=now)
    return period


@pytest.mark.parametrize(
    ("status", "users", "now", "time", "following"),
    [
        ("Scheduled", [user(4)], BEFORE, "in 5 h 0 min", "HyperPod launches 4 when it begins"),
        (
            "Scheduled",
            [user(0)],
            BEFORE,
            "in 5 h 0 min",
            "`hyperpod-ops scale trn2 4 --config mine.yaml`: they come when it begins",
        ),
        ("Active", [user(0)], DURING, "1 d 23 h left", "it is paid and unused"),
        ("Active", [user(4, 4)], DURING, "1 d 23 h left", "at 2026-12-03 11:00:00: save before"),
        ("Active", [user(1, 1)], DURING, "1 d 23 h left", "3 of its instances are in no group"),
        ("Active", [user(3), user(2)], DURING, "1 d 23 h left", "1 nodes more are wanted"),
        ("Expired", [user(4)], AFTER, "over", "extend the plan, name another, or scale the group"),
        ("Failed", [user(4)], BEFORE, "in 5 h 0 min", "no node comes while it is Failed"),
        ("Expired", [user(0)], AFTER, "over", ""),
    ],
)
def test_each_time_says_what_follows(
    status: str, users: list[PlanUser], now: datetime, time: str, following: str
) -> None:
    period = said(plan(status), *users, now=now)

    assert (period.time, period.instances) == (time, "4 x ml.trn2.48xlarge")
    assert following in period.next and bool(following) == bool(period.next)
    runs = status == "Active" and any(each.wanted for each in users)
    assert ("save before" in period.next) is runs
    assert ("more are wanted" in period.next) is ("more are wanted" in following)


def test_a_plan_that_is_not_there() -> None:
    period = said(None, user(4, None), now=BEFORE)

    assert (period.status, period.groups) == ("not there", "trn2 (not deployed)")


def test_a_plan_of_several_times_has_a_line_for_each() -> None:
    (capacity,) = plan("Active")["ReservedCapacitySummaries"]
    later = {**capacity, "StartTime": END + timedelta(days=1), "EndTime": END + timedelta(days=2)}
    found = plan("Active", ReservedCapacitySummaries=[later, capacity])
    first, second = periods("p", found, [user(4)], chosen=CHOSEN, now=DURING)

    assert (first.starts, second.time) == ("2026-12-01 11:30:00", "in 2 d 23 h")
