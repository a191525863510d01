"""``Custom::HyperPodCluster``: a SageMaker HyperPod cluster orchestrated by EKS.

| request          | on_event                              | is_complete                           |
|------------------|---------------------------------------|---------------------------------------|
| Create           | CreateCluster; what is there already: | as far as `wait_for` says; failure and|
|                  | see ``hyperpod_creation``             | shortage: see ``hyperpod_progress``   |
| Update           | the first call of the plan; none if   | the other calls, one by one: see      |
|                  | nothing changed                       | ``hyperpod_update``; then as a Create |
| Update, new name | as a Create; later Delete of the old  | as a Create                           |
| Update that takes| only what had come true is taken back: see ``hyperpod_rollback``              |
| back a failed one|                                       |                                       |
| Delete           | DeleteCluster if it is ours and not   | gone                                  |
|                  | kept: see ``hyperpod_deletion``       |                                       |

What finds the cluster busy is done later, by ``is_complete``. CloudFormation does not tag what a
custom resource makes, so the cluster carries the stack's id, the logical id and the request's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provisioner.aws.api import AccessEntriesApi, CloudFormationApi, SageMakerApi
from provisioner.aws.errors import AWS_ERRORS, is_not_found
from provisioner.aws.stack import StackState
from provisioner.framework import log
from provisioner.framework.errors import CarriedFailure, ProvisioningError
from provisioner.framework.request import NOT_YET, Accepted, Progress, Request
from provisioner.framework.retry import Clock
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.creation import create, create_later, take_over
from provisioner.hyperpod.deletion import delete, progress_of_delete
from provisioner.hyperpod.events import HyperPodEvents
from provisioner.hyperpod.failure import failure
from provisioner.hyperpod.marks import CREATE_FAILED_TAG, is_of_request, was_created_by
from provisioner.hyperpod.progress import progress_of
from provisioner.hyperpod.properties import HyperPodClusterProperties
from provisioner.hyperpod.rollback import progress_of_rollback, start_rollback
from provisioner.hyperpod.task import ClusterTask
from provisioner.hyperpod.update import go_on, start_update


class HyperPodCluster:
    """Handles ``Custom::HyperPodCluster``.

    Args:
        sagemaker: HyperPod.
        access_entries: The EKS cluster's access entries.
        cloudformation: Tells what the stack is doing.
    """

    def __init__(
        self,
        *,
        sagemaker: SageMakerApi,
        access_entries: AccessEntriesApi,
        cloudformation: CloudFormationApi,
    ) -> None:
        self._sagemaker = sagemaker
        self._access_entries = access_entries
        self._cloudformation = cloudformation

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Start to create, update or delete; the physical id is the cluster's name."""
        started_at = clock.now()
        return replace(_start(self._task(request, clock, patient=True)), started_at=started_at)

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Go on, look at the cluster, and raise why it failed."""
        if request.failure:
            raise CarriedFailure(request.failure)
        task = self._task(request, clock, patient=False)
        try:
            return _go_on(task)
        except AWS_ERRORS as error:
            # Gone between two calls: the next poll sees that it is.
            if is_not_found(error) or task.may_pass(error):
                log.info("not yet", cluster=task.api.name, cause=str(error))
                return NOT_YET
            raise

    def _task(self, request: Request, clock: Clock, *, patient: bool) -> ClusterTask:
        wanted = HyperPodClusterProperties.parse(request.properties)
        name = wanted.cluster_name
        return ClusterTask(
            request=request,
            wanted=wanted,
            api=HyperPodApi(sagemaker=self._sagemaker, name=name, clock=clock, patient=patient),
            events=HyperPodEvents(sagemaker=self._sagemaker, cluster_name=name),
            access_entries=self._access_entries,
            stack=StackState(
                cloudformation=self._cloudformation, stack_id=request.owner.stack_id, clock=clock
            ),
            clock=clock,
        )


def _start(task: ClusterTask) -> Accepted:
    name = task.wanted.cluster_name
    if task.request.type == "Delete":
        return Accepted(physical_id=task.request.physical_id or name, deferred=delete(task))
    if task.rolls_back:
        return start_rollback(task)
    if task.creates:
        return Accepted(physical_id=name, deferred=create(task))
    return start_update(task)


def _go_on(task: ClusterTask) -> Progress:
    described = task.api.describe()
    if task.request.type == "Delete":
        return progress_of_delete(task, described)
    if task.rolls_back:
        return progress_of_rollback(task, described)
    if described is None:
        return _without_cluster(task)
    if task.creates:
        if task.request.deferred and not _is_made(task, described):
            return NOT_YET
    elif not go_on(task, described):
        return NOT_YET
    try:
        return progress_of(task, described)
    except ProvisioningError:
        _mark_failed_creation(task, described)
        raise


def _without_cluster(task: ClusterTask) -> Progress:
    if task.creates and not task.request.deferred:
        raise ProvisioningError(
            f"The HyperPod cluster {task.api.name} does not exist any more",
            next_step="Find out who deleted it while it was made, then deploy again.",
        )
    create_later(task)
    return NOT_YET


def _is_made(task: ClusterTask, described: Mapping[str, Any]) -> bool:
    """Deal with what was there before; return whether the cluster is this request's own now."""
    tags = task.api.tags(described["ClusterArn"])
    if is_of_request(tags, task.request):
        return True
    if task.is_out_of_time:
        raise failure(
            described,
            (),
            what=f"of an earlier deployment is still there and {described['ClusterStatus']}",
            next_step="Deploy again when it is gone or InService.",
        )
    return not take_over(task, described, tags)


def _mark_failed_creation(task: ClusterTask, described: Mapping[str, Any]) -> None:
    """Note on the cluster that its creation failed; trouble must not hide the failure itself."""
    arn = described["ClusterArn"]
    try:
        if was_created_by(task.api.tags(arn), task.request):
            task.api.add_tags(arn, {CREATE_FAILED_TAG: str(int(task.clock.now()))})
    except AWS_ERRORS as error:
        log.warning("not marked as failed", cluster=task.api.name, cause=str(error))
