"""Scenarios in which the configuration of a running cluster changes."""

from collections.abc import Iterator
from typing import Any

from rehearsal.report import Check
from rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    all_or_nothing,
    cluster_is,
    fails,
    has_status,
    lacks_fixed_instance_types,
    needs,
    succeeds,
)
from rehearsal.stage import Stage

_CONTINUOUS = {"cluster.node_provisioning_mode": "Continuous"}


def _grown(document: dict[str, Any]) -> None:
    document["cluster"]["instance_groups"][-1]["instance_count"] += 2


def _with_another_group(document: dict[str, Any]) -> None:
    groups = document["cluster"]["instance_groups"]
    groups.append({**groups[-1], "name": "another-group"})
    groups[-2]["instance_count"] += 2


def _scale_up(stage: Stage) -> Iterator[Check]:
    yield succeeds("the first deployment works", stage.deploy_first())
    stage.change(_grown)
    yield succeeds("the last group grows by two nodes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _scale_down(stage: Stage) -> Iterator[Check]:
    stage.change(_with_another_group)
    yield succeeds("another group is deployed", stage.deploy())
    yield all_nodes_run(stage)
    stage.restore()
    yield succeeds("one group shrinks, the other goes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _immutable_change(stage: Stage) -> Iterator[Check]:
    yield succeeds("the first deployment works", stage.deploy_first())
    stage.change(all_or_nothing)
    yield from fails(stage, stage.deploy(), matching=r"NodeProvisioningMode")
    yield has_status(stage, "hyperpod", "UPDATE_ROLLBACK_COMPLETE")
    yield cluster_is(stage, "InService")


SCENARIOS = (
    Scenario(
        name="scale-up",
        summary="the last group grows by two nodes",
        play=_scale_up,
        on_a_deployment=True,
    ),
    Scenario(
        name="scale-down-and-remove-group",
        summary="one group shrinks and another is removed",
        play=_scale_down,
        on_a_deployment=True,
    ),
    Scenario(
        name="immutable-change",
        summary="the provisioning mode of a running cluster is changed, which HyperPod cannot do",
        play=_immutable_change,
        on_a_deployment=True,
        lacking=needs(_CONTINUOUS, also=lacks_fixed_instance_types),
    ),
)
