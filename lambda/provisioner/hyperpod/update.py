"""Changing a HyperPod cluster, call by call: each needs the one before it to have ended.

| found                                     | then                                               |
|-------------------------------------------|----------------------------------------------------|
| InService, or Failed after it once worked | UpdateCluster and tags, then each change of AMIs   |
| busy                                      | the same, as soon as it is InService               |
| gone or going, deleted outside            | created anew, whole                                |
| Failed, and its creation did              | deleted, then created anew                         |

How far it has come is in what ``on_event`` answers and, later, in a tag on the cluster. A call is
marked after it was made: a call made twice changes nothing the second time, unless it asks for
HyperPod's latest AMI. ``hyperpod_rollback`` says what else holds when an update is taken back.
"""

from collections.abc import Mapping
from typing import Any

from provisioner.aws.errors import AWS_ERRORS, is_conflict
from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.request import Accepted, json_object_property
from provisioner.hyperpod.creation import create, take_over
from provisioner.hyperpod.described import fitted, way_back
from provisioner.hyperpod.failure import failure, refusal, refused_by_service
from provisioner.hyperpod.groups import ClusterRequest
from provisioner.hyperpod.marks import (
    CREATE_FAILED_TAG,
    request_mark,
    steps_marked,
    was_created_by,
)
from provisioner.hyperpod.plan import Plan, plan
from provisioner.hyperpod.task import ClusterTask

Described = Mapping[str, Any]
_DELETING = "Deleting"
_FAILED = "Failed"
_IN_SERVICE = "InService"


def planned(task: ClusterTask) -> Plan:
    """Return the plan of an Update, from its two sets of properties."""
    old = task.request.old_properties or {}
    asked = task.wanted.software_update
    is_new = bool(asked) and asked != old.get("SoftwareUpdate", "")
    return plan(
        _former_request(task),
        task.wanted.request,
        software_update=is_new and not task.rolls_back,
    )


def _former_request(task: ClusterTask) -> ClusterRequest:
    try:
        return json_object_property(task.request.old_properties or {}, "Request")
    except ProvisioningError:
        if task.rolls_back:
            return task.wanted.request  # it was refused for this, before any call
        raise


def start_update(task: ClusterTask) -> Accepted:
    """Make the update's first call.

    Raises:
        ProvisioningError: It cannot be made, or SageMaker refused.
    """
    name = task.api.name
    changes = planned(task)
    if changes.is_empty:
        log.info("nothing changed", cluster=name)
        return Accepted(physical_id=name)
    described = task.api.describe()
    if described is None:
        log.warning("deleted outside; created anew", cluster=name)
        return Accepted(physical_id=name, deferred=create(task))
    if described["ClusterStatus"] == _DELETING:
        return Accepted(physical_id=name)
    tags = task.api.tags(described["ClusterArn"])
    if described["ClusterStatus"] == _FAILED and CREATE_FAILED_TAG in tags:
        return Accepted(physical_id=name, deferred=take_over(task, described, tags))
    _note_that_it_works(task, described, tags)
    return Accepted(physical_id=name, steps_done=int(make_step(task, described, changes, 0)))


def go_on(task: ClusterTask, described: Described) -> bool:
    """Make the update's next call if it is due; return whether all of them were made before.

    Raises:
        ProvisioningError: It cannot be made, or the cluster failed or is busy for too long.
    """
    changes = planned(task)
    steps = _steps(changes)
    arn, status = described["ClusterArn"], described["ClusterStatus"]
    if task.request.steps_done >= steps and status != _DELETING:
        return True  # a cluster that somebody deletes is created anew when it is gone
    tags = task.api.tags(arn)
    if was_created_by(tags, task.request):
        return True
    done = max(task.request.steps_done, steps_marked(tags, task.request))
    if done >= steps and status != _DELETING:
        return True
    if status == _FAILED and CREATE_FAILED_TAG in tags:
        take_over(task, described, tags)
    elif status == _FAILED:
        raise failure(described, task.events.findings(described, since=task.request.started_at))
    elif status == _IN_SERVICE and make_step(task, described, changes, done):
        task.api.add_tags(arn, request_mark(task.request, steps_done=done + 1))
    elif task.is_out_of_time and not task.rolls_back:
        raise failure(
            described,
            (),
            what=f"was busy for {task.wanted.wait_minutes} minutes (now {status})"
            + (f"; call {done + 1} of {steps} of the update was not made" if done < steps else ""),
            next_step="Deploy again when the cluster is InService.",
        )
    return False


def _steps(changes: Plan) -> int:
    return int(changes.changes_cluster) + len(changes.software)


def _note_that_it_works(task: ClusterTask, described: Described, tags: Mapping[str, str]) -> None:
    """Take the mark of a failed creation from a cluster that was merely late."""
    if described["ClusterStatus"] == _IN_SERVICE and CREATE_FAILED_TAG in tags:
        task.api.delete_tags(described["ClusterArn"], [CREATE_FAILED_TAG])


def make_step(task: ClusterTask, described: Described, changes: Plan, done: int) -> bool:
    """Make one of the update's calls; return False when the cluster is too busy for it.

    Raises:
        ProvisioningError: It cannot be made, or SageMaker refused.
    """
    if task.rolls_back:
        changes = way_back(changes, described, failed=_former_request(task))
    now = fitted(changes, described)
    if now.refusals:
        raise refusal(task.api.name, now)
    first_software = int(changes.changes_cluster)
    try:
        if done < first_software:
            log.info("updating", cluster=task.api.name, fields=sorted(now.update))
            task.api.update(now, described["ClusterArn"])
        else:
            wanted = changes.software[done - first_software]
            for call in now.software:
                if call.names <= wanted.names:
                    log.info("updating AMIs", cluster=task.api.name, groups=sorted(call.names))
                    task.api.update_software(call)
    except AWS_ERRORS as error:
        if is_conflict(error):
            log.info(
                "the cluster is busy", cluster=task.api.name, status=described["ClusterStatus"]
            )
            return False
        if task.may_pass(error):
            raise
        raise refused_by_service(task.api.name, "update", error) from error
    return True
