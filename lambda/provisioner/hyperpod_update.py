"""Changing a HyperPod cluster, call by call: each needs the one before it to have ended.

| found                                     | then                                               |
|-------------------------------------------|----------------------------------------------------|
| InService, or Failed after it once worked | UpdateCluster and tags, then each change of AMIs   |
| busy                                      | the same, as soon as it is InService               |
| gone, deleted outside                     | created anew, whole; during a rollback left so     |
| Failed, and its creation did              | deleted, then created anew                         |

How far it has come is in what ``on_event`` answers and, later, in a tag on the cluster. A call is
marked after it was made: a call made twice changes nothing the second time.
"""

from collections.abc import Mapping
from typing import Any

from provisioner import log
from provisioner.aws_errors import AWS_ERRORS, is_conflict
from provisioner.hyperpod_cluster_properties import HyperPodClusterProperties
from provisioner.hyperpod_creation import create, take_over
from provisioner.hyperpod_described import fitted
from provisioner.hyperpod_failure import failure, refusal, refused_by_service
from provisioner.hyperpod_marks import (
    CREATE_FAILED_TAG,
    request_mark,
    steps_marked,
    was_created_by,
)
from provisioner.hyperpod_plan import Plan, plan
from provisioner.hyperpod_task import ClusterTask
from provisioner.request import Accepted

Described = Mapping[str, Any]
_FAILED = "Failed"
_IN_SERVICE = "InService"


def planned(task: ClusterTask) -> Plan:
    """Return the plan of an Update, from its two sets of properties alone."""
    old = HyperPodClusterProperties.parse(task.request.old_properties or {})
    asked = task.wanted.software_update
    return plan(
        old.request,
        task.wanted.request,
        software_update=bool(asked) and asked != old.software_update,
    )


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
        if task.stack.is_rolling_back:
            return Accepted(physical_id=name)
        log.warning("deleted outside; created anew", cluster=name)
        return Accepted(physical_id=name, deferred=create(task))
    if described["ClusterStatus"] == _FAILED:
        tags = task.api.tags(described["ClusterArn"])
        if CREATE_FAILED_TAG in tags:
            return Accepted(physical_id=name, deferred=take_over(task, described, tags))
    return Accepted(physical_id=name, steps_done=int(_make_step(task, described, changes, 0)))


def go_on(task: ClusterTask, described: Described) -> bool:
    """Make the update's next call if it is due; return whether all of them were made before.

    Raises:
        ProvisioningError: It cannot be made, or the cluster failed or is busy for too long.
    """
    changes = planned(task)
    steps = _steps(changes)
    if task.request.steps_done >= steps:
        return True
    arn, status = described["ClusterArn"], described["ClusterStatus"]
    tags = task.api.tags(arn)
    if was_created_by(tags, task.request):
        return True
    done = max(task.request.steps_done, steps_marked(tags, task.request))
    if done >= steps:
        return True
    if status == _FAILED and CREATE_FAILED_TAG in tags:
        take_over(task, described, tags)
    elif status == _FAILED:
        raise failure(described, task.events.findings(described, since=task.request.started_at))
    elif status == _IN_SERVICE and _make_step(task, described, changes, done):
        task.api.add_tags(arn, request_mark(task.request, steps_done=done + 1))
    elif task.is_out_of_time:
        raise failure(
            described,
            (),
            what=f"was busy for {task.wanted.wait_minutes} minutes (now {status}); call "
            f"{done + 1} of {steps} of the update was not made",
            next_step="Deploy again when the cluster is InService.",
        )
    return False


def _steps(changes: Plan) -> int:
    return int(changes.changes_cluster) + len(changes.software)


def _make_step(task: ClusterTask, described: Described, changes: Plan, done: int) -> bool:
    """Make one of the update's calls; return False when the cluster is too busy for it."""
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
