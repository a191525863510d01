"""Creating a HyperPod cluster, over what an earlier deployment may have left of it.

A cluster of the wanted name may be there already:

| found                                            | then                                      |
|--------------------------------------------------|-------------------------------------------|
| made by this very request (CloudFormation or     | it is the one                             |
| Lambda sent it twice)                            |                                           |
| another stack's or nobody's                      | refused                                   |
| ours, being deleted                              | waited for, then created                  |
| ours, Failed                                     | deleted, then created                     |
| ours, InService, and UpdateCluster can make it   | adopted: updated, and marked as this      |
| the wanted one (its creation was late, not bad)  | request's                                 |
| ours, InService, and it cannot                   | its creation was late: deleted, then      |
|                                                  | created; it worked: refused               |
| ours, busy                                       | waited for, then one of the above         |

Ours is what this stack made, or a former stack of the same name.
"""

from collections.abc import Mapping
from typing import Any

from provisioner.aws.errors import AWS_ERRORS, is_conflict, is_in_use
from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.owner import owner_in_tags
from provisioner.hyperpod.deletion import delete_unless_busy
from provisioner.hyperpod.described import adoption
from provisioner.hyperpod.failure import refused_by_service
from provisioner.hyperpod.marks import CREATE_FAILED_TAG, is_of_request
from provisioner.hyperpod.task import ClusterTask

_FAILED = "Failed"
_IN_SERVICE = "InService"


def create(task: ClusterTask) -> bool:
    """Create the cluster; return whether what is there has to be dealt with first.

    Raises:
        ProvisioningError: It was refused.
    """
    try:
        task.api.create(task.wanted.request, task.marks)
    except AWS_ERRORS as error:
        described = task.api.describe() if is_in_use(error) else None
        if described is None:
            raise refused_by_service(task.api.name, "create", error) from error
        return take_over(task, described, task.api.tags(described["ClusterArn"]))
    return False


def create_later(task: ClusterTask) -> None:
    """Create the cluster in the place of one that is gone; come back when it does not work yet.

    Raises:
        ProvisioningError: It was refused, or nobody wants it any more.
    """
    if not task.stack.is_deploying:
        # The stack may have been deleted meanwhile: its Delete does not stop this request.
        raise ProvisioningError(
            f"The HyperPod cluster {task.api.name} was not created",
            detail="the stack is being deleted or rolled back",
            next_step="Deploy again.",
        )
    log.info("creating", cluster=task.api.name)
    try:
        task.api.create(task.wanted.request, task.marks)
    except AWS_ERRORS as error:
        if (is_in_use(error) or task.may_pass(error)) and not task.is_out_of_time:
            log.info("not yet", cluster=task.api.name, cause=str(error))
            return
        raise refused_by_service(task.api.name, "create", error) from error


def take_over(task: ClusterTask, described: Mapping[str, Any], tags: Mapping[str, str]) -> bool:
    """Deal with a cluster of the wanted name; return whether there is more to do, later.

    Raises:
        ProvisioningError: It is somebody else's, or SageMaker refused.
    """
    if is_of_request(tags, task.request):
        log.info("created by an earlier attempt", cluster=task.api.name)
        return False
    if not task.request.owner.owned_before(tags):
        raise ProvisioningError(
            f"A HyperPod cluster {task.api.name} exists already and belongs to "
            f"{owner_in_tags(tags)}",
            next_step="Choose another cluster name, or delete that cluster first.",
        )
    status = described["ClusterStatus"]
    if status == _FAILED:
        log.warning("deleting the cluster of a failed deployment", cluster=task.api.name)
        delete_unless_busy(task, described)
        return True
    if status != _IN_SERVICE:
        log.info("left by an earlier deployment", cluster=task.api.name, status=status)
        return True
    return _adopt(task, described, tags)


def _adopt(task: ClusterTask, described: Mapping[str, Any], tags: Mapping[str, str]) -> bool:
    changes = adoption(described, tags, task.wanted.request)
    # Another AMI would need further calls, each after the one before.
    differs = [refused.what for refused in changes.refusals] + ["AMI"] * bool(changes.software)
    if differs:
        if CREATE_FAILED_TAG not in tags:
            raise ProvisioningError(
                f"The HyperPod cluster {task.api.name} of a former deployment is in service and "
                f"differs in {', '.join(differs)}",
                detail="it cannot be made the one that is wanted, and may be in use",
                next_step=(
                    "Choose another cluster name, or if nobody needs it any more: aws sagemaker "
                    f"delete-cluster --cluster-name {task.api.name}; then deploy again."
                ),
            )
        log.warning("deleting a cluster that cannot be adopted", differs=differs)
        delete_unless_busy(task, described)
        return True
    log.info("adopting", cluster=task.api.name, fields=sorted(changes.update))
    arn = described["ClusterArn"]
    try:
        task.api.update(changes, arn)
    except AWS_ERRORS as error:
        if is_conflict(error):
            return True
        if task.may_pass(error):
            raise
        raise refused_by_service(task.api.name, "update", error) from error
    task.api.add_tags(arn, task.marks)
    if CREATE_FAILED_TAG in tags:
        task.api.delete_tags(arn, [CREATE_FAILED_TAG])
    return False
