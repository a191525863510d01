"""Scenarios in which the cluster cannot be created."""

from collections.abc import Iterator
from typing import Any

from rehearsal.hyperpod import Faults
from rehearsal.report import Check
from rehearsal.scenarios.scenario import Scenario, cluster_is, fails, has_status
from rehearsal.stage import Stage


def _all_or_nothing(document: dict[str, Any]) -> None:
    document["cluster"]["node_provisioning_mode"] = None


def _is_kept(stage: Stage) -> Iterator[Check]:
    # on_create_failure is keep: the stack holds on to the cluster, so they are deleted together.
    yield has_status(stage, "hyperpod", "ROLLBACK_FAILED")
    yield cluster_is(stage, "Failed")


def _capacity_shortage(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({"worker-group-1"}))
    stage.change(_all_or_nothing)
    yield from fails(
        stage, stage.deploy(), matching=r"worker-group-1.*[Cc]apacity.*Try again later"
    )
    yield from _is_kept(stage)


def _quota_exceeded(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(quotas={"ml.g5.12xlarge": 0})
    yield from fails(stage, stage.deploy(), matching=r"ml\.g5\.12xlarge.*Service Quotas")
    yield has_status(stage, "hyperpod", "ROLLBACK_COMPLETE")
    yield cluster_is(stage, "gone")


def _lifecycle_script_fails(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(
        lifecycle_script_failure=frozenset({"worker-group-2"})
    )
    stage.change(_all_or_nothing)
    matching = r"worker-group-2.*log stream LifecycleConfig/worker-group-2/i-"
    yield from fails(stage, stage.deploy(), matching=matching)
    yield from _is_kept(stage)


def _deep_health_check_fails(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(
        deep_health_check_failure=frozenset({"worker-group-1"})
    )
    stage.change(_all_or_nothing)
    matching = r"worker-group-1.*[Dd]eep health check"
    yield from fails(stage, stage.deploy(), matching=matching)
    yield from _is_kept(stage)


SCENARIOS = (
    Scenario(
        name="capacity-shortage",
        summary="AWS has no ml.g5.12xlarge left, and the cluster wants all its nodes or none",
        play=_capacity_shortage,
    ),
    Scenario(
        name="quota-exceeded",
        summary="the account may not run an ml.g5.12xlarge in a cluster",
        play=_quota_exceeded,
    ),
    Scenario(
        name="lifecycle-script-fails",
        summary="on_create.sh exits non-zero on the nodes of worker-group-2",
        play=_lifecycle_script_fails,
    ),
    Scenario(
        name="deep-health-check-fails",
        summary="the GPUs of worker-group-1 fail their deep health checks",
        play=_deep_health_check_fails,
    ),
)
