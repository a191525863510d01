"""Each kind of message is told of the local HyperPod: by a scenario, or here where it takes hours.

A rehearsal lasts minutes, on the clock of the wall; here the clock is the test's.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from hyperpod_emulator.hyperpod import ApiError, Faults, Timings
from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import PENDING_REBOOT
from hyperpod_emulator.testing.hyperpod_api import (
    CONTINUOUS,
    NAME,
    TYPE,
    Subject,
    create_plan,
    group,
    subject,
)
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_shared.aws_errors import AwsClient
from notifier.decision import KINDS, NODES_LOST, NODES_MISSING, PLAN_ENDS, STILL_FAULTY
from notifier.handler import Notifier
from tests.support.notifier import LOOK, Cluster, refused

_HOUR = 3600.0


class _Local:
    """The local HyperPod, as the function's clients see it, and what it has put on the bus."""

    def __init__(self, **options: Any) -> None:
        self.events: list[dict[str, Any]] = []
        # Its answers lack some of what AWS may leave out.
        self.api: Subject = subject(bus=self, omissions=Random(1), **options)  # noqa: S311
        self.topic = Cluster()

    def put(self, *, cluster_arn: str, detail_type: str, detail: Mapping[str, Any]) -> None:
        time = datetime.fromtimestamp(self.api.clock(), tz=UTC).isoformat()
        event = {"detail-type": detail_type, "detail": detail, "resources": [cluster_arn]}
        self.events.append({**event, "time": time})

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        return partial(self._call, "".join(word.title() for word in operation.split("_")))

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        given = {
            name: value.timestamp() if isinstance(value, datetime) else value
            for name, value in request.items()
        }
        try:
            answer = self.api(operation, **given)
        except ApiError as error:
            raise refused(error.code) from None
        end = answer.get("EndTime")
        return answer if end is None else {**answer, "EndTime": datetime.fromtimestamp(end, tz=UTC)}

    def tell(self, dynamodb: AwsClient, *events: Mapping[str, Any]) -> None:
        """Have the function told of events; by itself of those put since, and of the schedule."""
        given = events or [*self.events, LOOK]
        self.events = []
        notifier = Notifier(
            sagemaker=self,
            eks=self,
            dynamodb=dynamodb,
            sns=self.topic,
            logs=self,
            cluster=NAME,
            table="told",
            topic_arn="arn:aws:sns:us-west-2:111122223333:told",
            patience=_HOUR,
            clock=self.api.clock,
            sleep=self.api.wait,
        )
        for event in given:
            notifier.handle(event)

    def pass_hours(self, dynamodb: AwsClient, hours: int) -> None:
        """Let hours pass, of which the schedule looks at each."""
        for _ in range(hours):
            self.api.wait(_HOUR)
            self.api.service.advance()
            self.tell(dynamodb)


def _nodes_missing(dynamodb: AwsClient) -> _Local:
    local = _Local(faults=Faults(slow_nodes={"a": 100 * _HOUR}))
    local.api.create(group("a", 2), **CONTINUOUS)
    local.pass_hours(dynamodb, 3)
    return local


def _still_faulty(dynamodb: AwsClient) -> _Local:
    observer = Mock()
    observer.marked_nodes.return_value = {}
    local = _Local(observer=observer, timings=Timings(node_reboot=100 * _HOUR))
    local.api.create(group("a", 1), **CONTINUOUS)
    local.pass_hours(dynamodb, 1)
    [node] = local.api.nodes()
    observer.marked_nodes.return_value = {f"hyperpod-{node['InstanceId']}": PENDING_REBOOT}
    local.pass_hours(dynamodb, 3)
    return local


def _nodes_lost(dynamodb: AwsClient) -> _Local:
    local = _Local()
    local.api.create(group("a", 1), **CONTINUOUS)
    local.api.wait(_HOUR)
    local.api.service.advance()
    [scaled] = [event for event in local.events if "lost orchestration-ready" in str(event)]
    local.pass_hours(dynamodb, 1)
    # What it says of a scaling, at a time when nothing scales.
    details = {**scaled["detail"]["EventDetails"], "EventTime": int(local.api.clock() * 1000)}
    local.tell(dynamodb, {**scaled, "detail": {"EventDetails": details}})
    return local


def _plan_ends(dynamodb: AwsClient) -> _Local:
    local = _Local()
    plan = create_plan(local.api.service)
    ends = local.describe_training_plan(TrainingPlanName="plan")["EndTime"].timestamp()
    local.api.wait(ends - local.api.clock() - 12 * _HOUR)
    local.api.create(group("a", 1, InstanceType=TYPE, TrainingPlanArn=plan), **CONTINUOUS)
    local.pass_hours(dynamodb, 3)
    return local


HOURS: Mapping[str, tuple[Callable[[AwsClient], _Local], list[str]]] = {
    NODES_MISSING: (_nodes_missing, ["nodes-missing: nodes missing"]),
    STILL_FAULTY: (_still_faulty, ["node-faulty: hardware", "node-still-faulty: hardware"]),
    NODES_LOST: (_nodes_lost, ["nodes-lost: readiness"]),
    PLAN_ENDS: (_plan_ends, ["plan-ends: training plan"]),
}
"""What takes hours or days, or what the local HyperPod says of a scaling alone."""


@pytest.mark.parametrize("kind", HOURS)
def test_what_lasts_for_hours_is_told_once(dynamodb: AwsClient, kind: str) -> None:
    play, told = HOURS[kind]
    assert play(dynamodb).topic.told == told


def test_every_kind_of_message_is_told_by_a_scenario_or_here() -> None:
    of_scenarios = {
        message.partition(":")[0] for each in SCENARIOS.values() for message in each.messages
    }
    assert of_scenarios | {*HOURS} == {*KINDS}
    assert not of_scenarios & {*HOURS}
