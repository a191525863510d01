"""Deleting a HyperPod cluster: only our own, later if it is busy, and not what is to be kept.

`on_create_failure: keep` is about the Delete that CloudFormation sends of its own after a failed
Create. What becomes of the cluster:

| what happens                              | stack status        | cluster                        |
|-------------------------------------------|---------------------|--------------------------------|
| creation of the stack fails, rollback     | ROLLBACK_*          | kept: the Delete is answered   |
|                                           |                     | FAILED, so the stack still has |
|                                           |                     | it (ROLLBACK_FAILED)           |
| - then `cdk deploy`: deletes the stack,   | DELETE_IN_PROGRESS  | deleted; then created anew     |
|   creates it again                        |                     |                                |
| - then the stack is deleted               | DELETE_IN_PROGRESS  | deleted                        |
| an update that adds the cluster, or gives | UPDATE_ROLLBACK_*   | kept; CloudFormation tries     |
| it another name, fails, rollback          |                     | three times and lets go of it  |
| - then `cdk deploy` with the cluster      | UPDATE_IN_PROGRESS  | Create finds it: deleted, or   |
|                                           |                     | adopted; then the stack's      |
| - then the stack is deleted               | DELETE_IN_PROGRESS  | stays, for no Delete is sent;  |
|                                           |                     | the message named the command  |
| creation fails with rollback disabled     | CREATE_FAILED       | no Delete is sent; the next    |
|                                           |                     | Create finds it, as above      |
| rollback of a stack whose cluster is fine | ROLLBACK_*          | deleted: its creation did not  |
| (something after it failed)               |                     | fail                           |
| the stack is deleted while it is created  | DELETE_IN_PROGRESS  | deleted, as soon as it can be  |

With `on_create_failure: delete` every Delete deletes. A create that SageMaker refuses at once makes
no cluster, and the framework then answers the Delete itself.
"""

from collections.abc import Mapping
from typing import Any

from provisioner.aws.errors import AWS_ERRORS, is_conflict, is_transient
from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.owner import is_marked, owner_in_tags
from provisioner.framework.request import DONE, NOT_YET, Progress
from provisioner.hyperpod.access_entries import remove_left_behind
from provisioner.hyperpod.failure import failure, refused_by_service
from provisioner.hyperpod.governance import delete_governance, governance_of
from provisioner.hyperpod.groups import groups_of
from provisioner.hyperpod.marks import CREATE_FAILED_TAG
from provisioner.hyperpod.properties import KEEP
from provisioner.hyperpod.task import ClusterTask

Described = Mapping[str, Any]
_DELETING = "Deleting"
_FAILED = "Failed"
_SETTLED = frozenset({"InService", _FAILED})


def delete(task: ClusterTask) -> bool:
    """Delete the cluster if it is ours; return whether that must wait because it is busy.

    Raises:
        ProvisioningError: It is to be kept, is not known to be ours, or SageMaker refused.
    """
    described = task.api.describe()
    if described is None or described["ClusterStatus"] == _DELETING:
        return False
    tags = task.api.tags(described["ClusterArn"])
    if not task.request.owner.owns_tags(tags):
        if is_marked(tags):
            log.warning("left alone: another stack's", cluster=task.api.name)
            return False
        raise ProvisioningError(
            f"The HyperPod cluster {task.api.name} has lost the tags that say this stack made it",
            detail=f"it belongs to {owner_in_tags(tags)}",
            next_step="Delete it by hand if it is not needed, then delete the stack again.",
        )
    if _is_to_be_kept(task, described, tags):
        raise _kept(task.api.name, described)
    return delete_unless_busy(task, described)


def delete_unless_busy(task: ClusterTask, described: Described) -> bool:
    """Delete the cluster; return whether that must wait because it is busy.

    Raises:
        ProvisioningError: SageMaker refused, or task governance stands in the way.
    """
    try:
        task.api.delete()
    except AWS_ERRORS as error:
        if is_transient(error):
            raise
        if described["ClusterStatus"] in _SETTLED and _was_in_the_way(task, described):
            return True
        if is_conflict(error):
            log.info("the cluster is busy", cluster=task.api.name)
            return True
        raise refused_by_service(task.api.name, "delete", error) from error
    return False


def progress_of_delete(task: ClusterTask, described: Described | None) -> Progress:
    """Say whether the cluster is gone, and delete it now if it was too busy before.

    Raises:
        ProvisioningError: The deletion failed or takes too long.
    """
    if described is None:
        _clean_up(task)
        return DONE
    if task.is_out_of_time:
        raise failure(
            described,
            (),
            what=f"is still {described['ClusterStatus']} and not deleted",
            next_step="Delete the stack again: that goes on where this left off.",
        )
    if described["ClusterStatus"] == _DELETING:
        return NOT_YET
    if not task.request.owner.owns_tags(task.api.tags(described["ClusterArn"])):
        return DONE
    failed = described["ClusterStatus"] == _FAILED and not task.request.deferred
    if failed and not _was_in_the_way(task, described):
        raise failure(described, task.events.findings(described))
    delete_unless_busy(task, described)
    return NOT_YET


def _clean_up(task: ClusterTask) -> None:
    try:
        # Else a cluster of another name may have taken its place, with the same role.
        if task.stack.is_being_deleted:
            remove_left_behind(task.access_entries, task.wanted.request)
    except AWS_ERRORS as error:
        log.warning("not cleaned up", cluster=task.api.name, cause=str(error))


def _is_to_be_kept(task: ClusterTask, described: Described, tags: Mapping[str, str]) -> bool:
    failed = CREATE_FAILED_TAG in tags or described["ClusterStatus"] == _FAILED
    keep = task.wanted.on_create_failure == KEEP
    return failed and keep and task.stack.is_rolling_back


def _kept(name: str, described: Described) -> ProvisioningError:
    nodes = sum(group.get("CurrentCount", 0) for group in groups_of(described).values())
    billed = f" with {nodes} nodes, which are billed" if nodes else ""
    return ProvisioningError(
        f"The HyperPod cluster {name} is kept{billed}, for its creation failed and "
        "on_create_failure is keep",
        next_step=(
            "Look at it, then deploy again, which replaces it, or delete the stack. If the stack "
            f"does not list it any more: aws sagemaker delete-cluster --cluster-name {name}"
        ),
    )


def _was_in_the_way(task: ClusterTask, described: Described) -> bool:
    """Delete task governance that keeps the cluster from being deleted, if that is agreed to.

    Raises:
        ProvisioningError: There is some, and it is not.
    """
    objects = governance_of(task.api, described["ClusterArn"])
    if not objects:
        return False
    if not task.wanted.delete_task_governance:
        raise ProvisioningError(
            f"The HyperPod cluster {task.api.name} cannot be deleted while task governance uses it",
            detail=", ".join(map(str, objects)),
            next_step=(
                "Delete these in the HyperPod console (Policies), or set "
                "cluster.delete_task_governance: true and deploy; then delete again."
            ),
        )
    delete_governance(task.api, objects)
    return True
