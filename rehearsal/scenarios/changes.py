"""Scenarios in which the configuration of a running cluster, or a script of it, changes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rehearsal.report import Fact
from rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    all_nodes_run,
    all_or_nothing,
    cluster_is,
    deploy_and_cancel,
    fails,
    has_status,
    lacks_fixed_instance_types,
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


def _scale_up(stage: Stage) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    stage.change(_grown)
    yield succeeds("the last group grows by two nodes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _scale_down(stage: Stage) -> Iterator[Fact]:
    stage.change(_with_another_group)
    yield succeeds("another group is deployed", stage.deploy())
    yield all_nodes_run(stage)
    stage.restore()
    yield succeeds("one group shrinks, the other goes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


def _immutable_change(stage: Stage) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    stage.change(all_or_nothing)
    yield from fails(stage, stage.deploy(), matching=r"NodeProvisioningMode")
    yield has_status(stage, "hyperpod", "UPDATE_ROLLBACK_COMPLETE")
    yield cluster_is(stage, "InService")


_SCRIPT = "steps/kubelet_directory.sh"
_RENAMED = "steps/kubelet_folder.sh"


def _remove(scripts: Path) -> None:
    (scripts / _SCRIPT).unlink()


def _rename(scripts: Path) -> None:
    (scripts / _SCRIPT).rename(scripts / _RENAMED)


def _keys(stage: Stage) -> set[str]:
    """Return the keys that have any version in the bucket of the scripts."""
    bucket = stage.outputs()[stage.stack("platform")]["S3BucketName"]
    pages = stage.environment.clients("s3").get_paginator("list_object_versions")
    return {
        item["Key"]
        for page in pages.paginate(Bucket=bucket)
        for item in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
    }


def _changed(stage: Stage, edit: Callable[[Path], None], *, made: set[str]) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    before = _keys(stage)
    stage.change_scripts(edit)
    cancelled = deploy_and_cancel(stage)
    yield Fact(check="the update is cancelled while it changes the scripts", ok=cancelled)
    yield has_status(stage, "platform", "UPDATE_ROLLBACK_COMPLETE")
    yield Fact(check="the rollback brings back the scripts", ok=_keys(stage) == before)
    yield succeeds("the same change works when it is not cancelled", stage.deploy())
    wanted = before - {_SCRIPT} | made
    yield Fact(check="the bucket has the scripts of the folder", ok=_keys(stage) == wanted)


def _script_removed(stage: Stage) -> Iterator[Fact]:
    yield from _changed(stage, _remove, made=set())


def _script_renamed(stage: Stage) -> Iterator[Fact]:
    yield from _changed(stage, _rename, made={_RENAMED})


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
        needs=_CONTINUOUS,
        also_lacking=lacks_fixed_instance_types,
    ),
    Scenario(
        name="script-removed",
        summary="a lifecycle script is removed, in an update that is cancelled and in the next one",
        play=_script_removed,
        on_a_deployment=True,
        needs=ON_EKS,
    ),
    Scenario(
        name="script-renamed",
        summary="a lifecycle script is renamed, in an update that is cancelled and in the next one",
        play=_script_renamed,
        on_a_deployment=True,
        needs=ON_EKS,
    ),
)
