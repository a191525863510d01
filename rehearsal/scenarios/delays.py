"""Scenarios in which AWS is slow or busy, and the deployment must succeed all the same."""

from collections.abc import Iterator

from rehearsal.hyperpod import Faults
from rehearsal.report import Check
from rehearsal.scenarios.scenario import Scenario, all_nodes_run, has_status, succeeds
from rehearsal.stage import Stage
from rehearsal.verification.inspection import running_nodes, wanted_nodes


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
    slow = stage.config.cluster.all_groups[0].name
    stage.environment.hyperpod.faults = Faults(slow_nodes={slow: 8.0})
    yield succeeds("the deployment succeeds", stage.deploy())
    yield has_status(stage, "hyperpod", "CREATE_COMPLETE")
    running = running_nodes(stage.config, clients=stage.environment.clients)
    wanted = wanted_nodes(stage.config)
    yield Check(check=f"it waited for {wanted} nodes ({running})", ok=running == wanted)


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
        summary="the nodes of the first group take eight times as long",
        play=_slow_nodes,
    ),
)
