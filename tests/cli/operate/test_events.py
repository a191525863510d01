"""The events of a cluster: each fault once, and its cause."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hyperpod_cli.operate.events.faults import Level, each_once, level_of, without_misleading
from hyperpod_cli.operate.events.history import each_kind, events_of
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


LAUNCH = "Failed to provision EC2 Instance"
SCRIPT = "The lifecycle script failed"


class SageMaker:
    """Has a storm of events of the group `a`, then one of the group `b`."""

    def __init__(self) -> None:
        self.described = 0
        self.events = [self._event(n, "a", LAUNCH) for n in range(200)]
        self.events.append(self._event(200, "b", SCRIPT))

    @staticmethod
    def _event(number: int, group: str, description: str) -> dict[str, Any]:
        return {
            "EventId": f"{group}-{number}",
            "EventLevel": "Error",
            "EventTime": NOW - timedelta(seconds=10 * number),
            "InstanceGroupName": group,
            "InstanceId": f"i-{number:017x}",
            "Description": description,
        }

    def get_paginator(self, _: str) -> "SageMaker":
        return self

    def paginate(self, **_: object) -> Iterator[dict[str, Any]]:
        yield {"Events": self.events}

    def describe_cluster_event(self, **asked: str) -> dict[str, Any]:
        self.described += 1
        cause = "Insufficient capacity" if asked["EventId"].startswith("a") else SCRIPT
        details = {"EventMetadata": {"Instance": {"FailureMessage": cause}}}
        return {"EventDetails": {"EventDetails": details}}


@pytest.fixture
def found() -> list[Any]:
    sagemaker = SageMaker()
    cluster = described({"a": (0, 1), "b": (1, 1)})
    events = events_of(sagemaker, cluster, since=NOW - timedelta(hours=1), least=Level.WARN)
    assert sagemaker.described == 25
    return each_kind(events)


def test_a_storm_of_one_group_hides_nothing_of_another(found: list[Any]) -> None:
    assert [(each.group, each.kind, each.times) for each in found] == [
        ("a", "capacity", 200),
        ("b", "lifecycle script", 1),
    ]


def test_the_log_of_a_script_that_failed_is_named(found: list[Any]) -> None:
    assert found[1].next_step.endswith(f"To read it: hyperpod-cdk logs i-{200:017x}")
