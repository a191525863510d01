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


def _all_or_nothing_shortage(stage: Stage) -> Iterator[Check]:
    group = stage.config.cluster.all_groups[0].name
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group}))
    stage.change(_all_or_nothing)
    yield from fails(stage, stage.deploy(), matching=rf"{group}.*[Cc]apacity.*try again later")
    yield from _is_kept(stage)


def _quota_exceeded(stage: Stage) -> Iterator[Check]:
    stage.environment.hyperpod.faults = Faults(quotas={"ml.g5.12xlarge": 0})
    yield from fails(stage, stage.deploy(), matching=r"ml\.g5\.12xlarge.*Service Quotas")
    yield has_status(stage, "hyperpod", "ROLLBACK_COMPLETE")
    yield cluster_is(stage, "gone")


def _lifecycle_script_fails(stage: Stage) -> Iterator[Check]:
    group = stage.config.cluster.all_groups[-1].name
    stage.environment.hyperpod.faults = Faults(lifecycle_script_failure=frozenset({group}))
    matching = (
        rf"no node in group {group}.*log stream LifecycleConfig/{group}/i-\w+ in CloudWatch "
        rf"log group /aws/sagemaker/Clusters/{stage.config.cluster.name}/"
    )
    yield from fails(stage, stage.deploy(), matching=matching)
    yield has_status(stage, "hyperpod", "ROLLBACK_FAILED")
    # The nodes of the other groups are there to look at, until the next deployment.
    yield cluster_is(stage, "InService")


SCENARIOS = (
    Scenario(
        name="all-or-nothing-shortage",
        summary="AWS has no instance left for the first group, and nodes come all or none",
        play=_all_or_nothing_shortage,
    ),
    Scenario(
        name="quota-exceeded",
        summary="the account may not run an ml.g5.12xlarge in a cluster",
        play=_quota_exceeded,
    ),
    Scenario(
        name="lifecycle-script-fails",
        summary="on_create.sh exits non-zero on every node of the last group",
        play=_lifecycle_script_fails,
    ),
)
