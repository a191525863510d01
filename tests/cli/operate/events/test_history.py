"""The causes of many events: one group's storm hides nothing of another group."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hyperpod_cli.operate.events.faults import Level
from hyperpod_cli.operate.events.history import each_kind, events_of
from tests.support.clusters import described

NOW = datetime(2026, 11, 1, tzinfo=UTC)
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
    assert found[1].next_step.endswith(f"To read it: hyperpod-ops logs i-{200:017x}")
