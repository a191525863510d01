"""Scenarios in which the cluster cannot be created."""

import re
from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_or_nothing,
    cluster_is,
    fails,
    has_status,
    lacks_fixed_instance_types,
)
from hyperpod_rehearsal.stage import Stage

_STREAM = re.compile(
    r"log stream (?P<stream>LifecycleConfig/[\w-]+/i-\w+) in CloudWatch "
    r"log group (?P<group>[\w/-]+)"
)
_USERS = asset_directory("config") / "examples" / "slurm-users" / "users.csv"
_KEEPING = {"cluster.on_create_failure": "keep"}


def _is_kept(stage: Stage) -> Iterator[Fact]:
    # on_create_failure is keep: the stack holds on to the cluster, so they are deleted together.
    yield has_status(stage, "hyperpod", "ROLLBACK_FAILED")
    yield cluster_is(stage, "Failed")


@Scenario(
    messages=("cluster-fails: capacity",), needs=_KEEPING, also_lacking=lacks_fixed_instance_types
)
def all_or_nothing_shortage(stage: Stage) -> Iterator[Fact]:
    """AWS has no instance left for the first group, and nodes come all or none."""
    group = stage.config.cluster.all_groups[0].name
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group}))
    stage.change(all_or_nothing)
    yield from fails(stage, stage.deploy(), matching=rf"{group}.*[Cc]apacity.*try again later")
    yield from _is_kept(stage)


@Scenario()
def quota_exceeded(stage: Stage) -> Iterator[Fact]:
    """The account may not run the last group's instance type in a cluster."""
    instance_type = stage.config.cluster.all_groups[-1].possible_instance_types[0]
    stage.environment.hyperpod.faults = Faults(quotas={instance_type: 0})
    matching = rf"{re.escape(instance_type)}.*Service Quotas"
    yield from fails(stage, stage.deploy(), matching=matching)
    yield has_status(stage, "hyperpod", "ROLLBACK_COMPLETE")
    yield cluster_is(stage, "gone")


def _with_users(document: dict[str, Any]) -> None:
    """Change a cluster whose nodes have the AMI's own set-up alone: users get homes after it."""
    document["cluster"].setdefault("slurm", {})["setup"] = {"users": str(_USERS)}


@Scenario(
    messages=("nodes-fail: lifecycle script",), needs={**_KEEPING, "cluster.wait_for": "nodes"}
)
def lifecycle_script_fails(stage: Stage) -> Iterator[Fact]:
    """The script on_create.sh exits non-zero on every node of the last group."""
    group = stage.config.cluster.all_groups[-1].name
    stage.environment.hyperpod.faults = Faults(lifecycle_script_failure=frozenset({group}))
    if not stage.config.script_folders[0]:
        stage.change(_with_users)
    matching = (
        rf"no node in group {group}.*log stream LifecycleConfig/{group}/i-\w+ in CloudWatch "
        rf"log group /aws/sagemaker/Clusters/{stage.config.cluster.name}/"
    )
    error = stage.deploy()
    yield from fails(stage, error, matching=matching)
    yield _is_logged(stage, error or "")
    yield has_status(stage, "hyperpod", "ROLLBACK_FAILED")
    # The nodes of the other groups are there to look at, until the next deployment.
    yield cluster_is(stage, "InService")


def _is_logged(stage: Stage, error: str) -> Fact:
    """Return the check that the log stream which an error names tells what the script did."""
    stage.environment.lifecycle_logs.wait()
    stream = _STREAM.search(error)
    lines = [] if stream is None else _lines(stage, group=stream["group"], stream=stream["stream"])
    cause = next((line for line in lines if "ERROR step" in line), "nothing")
    return Fact(title=f"that log stream tells why: {cause}", ok=" failed with exit code" in cause)


def _lines(stage: Stage, *, group: str, stream: str) -> list[str]:
    logs = stage.environment.clients("logs")
    events = logs.get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True)
    return [event["message"] for event in events["events"]]
