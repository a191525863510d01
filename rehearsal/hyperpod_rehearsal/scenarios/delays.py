"""Scenarios in which AWS is slow or busy, and the deployment must succeed all the same."""

from collections.abc import Iterator

from hyperpod_cli.inspect.verification.nodes import wanted_nodes
from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    has_status,
    no_access_yet,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import running_nodes


@Scenario()
def role_not_propagated(stage: Stage) -> Iterator[Fact]:
    """Execution role and access policy have not yet reached SageMaker and Kubernetes."""
    stage.environment.hyperpod.faults = Faults(role_not_propagated_calls=2)
    stage.environment.kubernetes.inject(no_access_yet(times=2))
    yield succeeds("calls are retried until role and access policy are there", stage.deploy())
    yield all_nodes_run(stage)


@Scenario()
def throttled(stage: Stage) -> Iterator[Fact]:
    """SageMaker throttles the first calls of each kind."""
    stage.environment.hyperpod.faults = Faults(
        throttled_calls={"CreateCluster": 2, "DescribeCluster": 12, "ListTags": 2}
    )
    yield succeeds("throttled calls are retried", stage.deploy())
    yield all_nodes_run(stage)


@Scenario(needs={"cluster.wait_for": "nodes"})
def slow_nodes(stage: Stage) -> Iterator[Fact]:
    """The nodes of the first group take eight times as long."""
    slow = stage.config.cluster.all_groups[0].name
    stage.environment.hyperpod.faults = Faults(slow_nodes={slow: 8.0})
    yield succeeds("the deployment succeeds", stage.deploy())
    yield has_status(stage, "hyperpod", "CREATE_COMPLETE")
    running = running_nodes(stage.config, clients=stage.environment.clients)
    wanted = wanted_nodes(stage.config)
    yield Fact(title=f"it waited for {wanted} nodes ({running})", ok=running == wanted)
