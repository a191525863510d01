"""Scenarios in which AWS is slow or busy, and the deployment must succeed all the same."""

from collections.abc import Iterator
from typing import Any

from rehearsal.hyperpod import Faults
from rehearsal.report import Check
from rehearsal.scenarios.scenario import Scenario, all_nodes_run, has_status, succeeds
from rehearsal.stage import Stage


def _wait_for_nodes(document: dict[str, Any]) -> None:
    document["cluster"]["wait_for"] = "nodes"


def _role_not_propagated(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(role_not_propagated_calls=2)
    yield succeeds("the creation is retried until the role is there", stage.deploy())
    yield all_nodes_run(stage)


def _throttled(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(
        throttled_calls={"CreateCluster": 2, "DescribeCluster": 12, "ListTags": 2}
    )
    yield succeeds("throttled calls are retried", stage.deploy())
    yield all_nodes_run(stage)


def _slow_nodes(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(slow_nodes={"worker-group-1": 8.0})
    stage.change(_wait_for_nodes)
    yield succeeds("the deployment waits for the last node", stage.deploy())
    yield has_status(stage, "hyperpod", "CREATE_COMPLETE", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


SCENARIOS = (
    Scenario(
        name="role-not-propagated",
        summary="the execution role has not yet reached SageMaker",
        play=_role_not_propagated,
    ),
    Scenario(
        name="throttled",
        summary="SageMaker throttles the first calls of each kind",
        play=_throttled,
    ),
    Scenario(
        name="slow-nodes",
        summary="the GPU node takes eight times as long, and the deployment waits for nodes",
        play=_slow_nodes,
    ),
)
