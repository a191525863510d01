"""Which events are worth telling."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hyperpod_cli.operate.events.faults import each_once, level_of, without_misleading
from tests.support.clusters import described

NOW = datetime(2026, 11, 1, tzinfo=UTC)
FIRST = "Failed to provision EC2 Instance in Cluster a and InstanceGroup b"
SECOND = "Instance creation in Cluster a and InstanceGroup b failed"
WARNING = (
    "2 node(s) lost orchestration-ready status. Current: 3/5 orchestration-ready across 1 instance "
    "group(s)."
)


def event(
    description: str, *, ago: float = 0, level: str = "Error", node: str = ""
) -> dict[str, Any]:
    return {
        "EventLevel": level,
        "Description": description,
        "EventTime": NOW - timedelta(seconds=ago),
        "InstanceGroupName": "b",
        **({"InstanceId": node} if node else {}),
    }


# Newest first, with how many are told.
CASES: list[tuple[list[Any], int]] = [
    ([event(SECOND), event(FIRST, ago=1)], 1),
    ([event(SECOND, node="i-1"), event(FIRST, ago=1, node="i-2")], 2),
    ([event(SECOND), event(FIRST, ago=6)], 2),
    # Two launches that failed at once.
    ([event(SECOND), event(SECOND), event(FIRST, ago=1), event(FIRST, ago=1)], 2),
    ([event(SECOND, level="Warn"), event(FIRST, level="Warn")], 2),
    ([event("a", level="Info"), event(FIRST)], 2),
    ([], 0),
]


@pytest.mark.parametrize(("events", "told"), CASES)
def test_a_fault_is_told_once(events: list[Any], told: int) -> None:
    assert len(each_once(events)) == told


def test_a_warning_of_scaling_is_left_out_once_its_group_came_in_service() -> None:
    groups = described({"a": (1, 1), "b": (5, 5)}).groups
    other = {**event(WARNING, level="Warn"), "InstanceGroupName": "a"}
    arrived = event("InstanceGroup b is InService", level="Info")
    later = event(WARNING, level="Warn")

    told = without_misleading([later, arrived, other, event(WARNING, level="Warn")], groups)

    assert told == [later, arrived, other]


@pytest.mark.parametrize(("current", "told"), [(3, [FIRST]), (5, [WARNING, FIRST])])
def test_a_warning_of_scaling_is_left_out_while_counts_differ(
    current: int, told: list[str]
) -> None:
    groups = described({"a": (1, 1), "b": (current, 5)}).groups
    events = [event(WARNING, level="Warn"), event(FIRST)]

    assert [each["Description"] for each in without_misleading(events, groups)] == told


def test_an_event_need_not_have_a_level() -> None:
    without = {key: value for key, value in event(FIRST).items() if key != "EventLevel"}
    assert level_of(without) == "Info"
    assert len(each_once([event(SECOND), without])) == 2
