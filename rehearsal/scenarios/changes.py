"""Scenarios in which the configuration of a running cluster changes."""

from collections.abc import Iterator
from typing import Any

from rehearsal.report import Check
from rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    fails,
    has_status,
    succeeds,
)
from rehearsal.stage import Stage


def _scaled(document: dict[str, Any], *, count: int) -> None:
    document["cluster"]["instance_groups"][1]["instance_count"] = count


def _with_third_group(document: dict[str, Any]) -> None:
    groups = document["cluster"]["instance_groups"]
    groups.append({**groups[1], "name": "worker-group-3"})
    groups[1]["instance_count"] = 3


def _other_provisioning_mode(document: dict[str, Any]) -> None:
    document["cluster"]["node_provisioning_mode"] = None


def _scale_up(stage: Stage) -> Iterator[Check]:
    yield succeeds("the first deployment works", stage.deploy())
    stage.change(lambda document: _scaled(document, count=3))
    yield succeeds("worker-group-2 grows from 1 to 3", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _scale_down(stage: Stage) -> Iterator[Check]:
    stage.change(_with_third_group)
    yield succeeds("three groups are deployed", stage.deploy())
    yield all_nodes_run(stage)
    stage.restore()
    yield succeeds("worker-group-2 shrinks to 1, worker-group-3 goes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _immutable_change(stage: Stage) -> Iterator[Check]:
    yield succeeds("the first deployment works", stage.deploy())
    stage.change(_other_provisioning_mode)
    yield from fails(stage, stage.deploy(), matching=r"NodeProvisioningMode")
    yield has_status(stage, "hyperpod", "UPDATE_ROLLBACK_COMPLETE")
    yield cluster_is(stage, "InService")


SCENARIOS = (
    Scenario(
        name="scale-up",
        summary="worker-group-2 grows from one node to three",
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
    ),
)
