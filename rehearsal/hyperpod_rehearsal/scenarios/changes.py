"""Scenarios in which the configuration of a running cluster, or a script of it, changes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    all_nodes_run,
    all_or_nothing,
    cluster_is,
    deploy_and_cancel,
    fails,
    grow,
    has_status,
    lacks_fixed_instance_types,
    succeeds,
    with_another_group,
)
from hyperpod_rehearsal.stage import Stage

_CONTINUOUS = {"cluster.node_provisioning_mode": "Continuous"}


def _with_more(document: dict[str, Any]) -> None:
    with_another_group(document)
    grow(document, index=-2)


@Scenario(begins="deployed")
def scale_up(stage: Stage) -> Iterator[Fact]:
    """The last group grows by two nodes."""
    stage.change(grow)
    yield succeeds("the last group grows by two nodes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


@Scenario(begins="anyhow")
def scale_down_and_remove_group(stage: Stage) -> Iterator[Fact]:
    """One group shrinks and another is removed."""
    stage.change(_with_more)
    yield succeeds("another group is deployed", stage.deploy())
    yield all_nodes_run(stage)
    stage.restore()
    yield succeeds("one group shrinks, the other goes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)


@Scenario(begins="deployed", needs=_CONTINUOUS, also_lacking=lacks_fixed_instance_types)
def immutable_change(stage: Stage) -> Iterator[Fact]:
    """The provisioning mode of a running cluster is changed, which HyperPod cannot do."""
    stage.change(all_or_nothing)
    yield from fails(stage, stage.deploy(), matching=r"NodeProvisioningMode")
    yield has_status(stage, "hyperpod", "UPDATE_ROLLBACK_COMPLETE")
    yield cluster_is(stage, "InService")


_SCRIPT = "steps/kubelet_directory.sh"
_RENAMED = "kubelet_folder.sh"


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
    before = _keys(stage)
    stage.change_scripts(lambda scripts: edit(scripts / _SCRIPT))
    cancelled = deploy_and_cancel(stage)
    yield Fact(title="the update is cancelled while it changes the scripts", ok=cancelled)
    yield has_status(stage, "platform", "UPDATE_ROLLBACK_COMPLETE")
    yield Fact(title="the rollback brings back the scripts", ok=_keys(stage) == before)
    yield succeeds("the same change works when it is not cancelled", stage.deploy())
    wanted = before - {_SCRIPT} | made
    yield Fact(title="the bucket has the scripts of the folder", ok=_keys(stage) == wanted)


@Scenario(begins="deployed", needs=ON_EKS)
def script_removed(stage: Stage) -> Iterator[Fact]:
    """A lifecycle script is removed, in an update that is cancelled and in the next one."""
    yield from _changed(stage, Path.unlink, made=set())


@Scenario(begins="deployed", needs=ON_EKS)
def script_renamed(stage: Stage) -> Iterator[Fact]:
    """A lifecycle script is renamed, in an update that is cancelled and in the next one."""

    def rename(script: Path) -> None:
        script.rename(script.with_name(_RENAMED))

    yield from _changed(stage, rename, made={f"steps/{_RENAMED}"})
