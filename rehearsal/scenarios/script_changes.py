"""Scenarios in which a lifecycle script is removed or renamed, and the update is cancelled."""

from collections.abc import Callable, Iterator
from pathlib import Path

from rehearsal.report import Check
from rehearsal.scenarios.scenario import Scenario, deploy_and_cancel, has_status, succeeds
from rehearsal.stage import Stage

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


def _changed(stage: Stage, edit: Callable[[Path], None], *, made: set[str]) -> Iterator[Check]:
    yield succeeds("the first deployment works", stage.deploy_first())
    before = _keys(stage)
    stage.change_scripts(edit)
    cancelled = deploy_and_cancel(stage)
    yield Check(check="the update is cancelled while it changes the scripts", ok=cancelled)
    yield has_status(stage, "platform", "UPDATE_ROLLBACK_COMPLETE")
    yield Check(check="the rollback brings back the scripts", ok=_keys(stage) == before)
    yield succeeds("the same change works when it is not cancelled", stage.deploy())
    wanted = before - {_SCRIPT} | made
    yield Check(check="the bucket has the scripts of the folder", ok=_keys(stage) == wanted)


def _script_removed(stage: Stage) -> Iterator[Check]:
    yield from _changed(stage, _remove, made=set())


def _script_renamed(stage: Stage) -> Iterator[Check]:
    yield from _changed(stage, _rename, made={_RENAMED})


SCENARIOS = (
    Scenario(
        name="script-removed",
        summary="a lifecycle script is removed, in an update that is cancelled and in the next one",
        play=_script_removed,
        on_a_deployment=True,
    ),
    Scenario(
        name="script-renamed",
        summary="a lifecycle script is renamed, in an update that is cancelled and in the next one",
        play=_script_renamed,
        on_a_deployment=True,
    ),
)
