"""``Custom::HyperPodCluster``: a SageMaker HyperPod cluster orchestrated by EKS.

| request | on_event                                                 | is_complete                 |
|---------|----------------------------------------------------------|-----------------------------|
| Create  | CreateCluster; exists: ours by its tags, or refused      | InService; Failed is raised |
| Update  | plan: UpdateCluster, AddTags, DeleteTags; none if equal  | InService; Failed is raised |
| Delete  | DeleteCluster if it is ours; gone: success               | gone                        |

An Update or Delete that finds the cluster busy is made later, by ``is_complete``. CloudFormation
does not tag what a custom resource makes, so the cluster carries the stack's id and the logical id.
"""

from collections.abc import Mapping
from typing import Any

from provisioner import log
from provisioner.aws_api import SageMakerApi
from provisioner.aws_errors import AWS_ERRORS, is_conflict, is_in_use, is_transient
from provisioner.errors import CarriedFailure, ProvisioningError
from provisioner.hyperpod_api import CONTINUOUS, HyperPodApi
from provisioner.hyperpod_cluster_properties import HyperPodClusterProperties
from provisioner.hyperpod_deletion import delete_cluster, progress_of_delete
from provisioner.hyperpod_failure import failure, refusal
from provisioner.hyperpod_plan import fitted, is_applied, plan
from provisioner.owner import digest, owner_in_tags
from provisioner.request import NOT_YET, Accepted, Progress, Request
from provisioner.retry import Clock

REQUEST_TAG = "hyperpod-cdk:deferred-request"
"""Says which deferred update was accepted at last, so that it is made once."""

_DELETING = "Deleting"
_FAILED = "Failed"
_IN_SERVICE = "InService"
_ROLLING_BACK = "RollingBack"


class HyperPodCluster:
    """Handles ``Custom::HyperPodCluster``.

    Args:
        sagemaker: Makes the calls.
    """

    def __init__(self, *, sagemaker: SageMakerApi) -> None:
        self._sagemaker = sagemaker

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Start to create, update or delete; the physical id is the cluster's name."""
        wanted = HyperPodClusterProperties.parse(request.properties)
        api = self._api(wanted.cluster_name, clock, patient=True)
        if request.type == "Delete":
            deferred = delete_cluster(api, request)
            return Accepted(
                physical_id=request.physical_id or wanted.cluster_name, deferred=deferred
            )
        deferred = False
        if request.type == "Create" or request.physical_id != wanted.cluster_name:
            _create(api, wanted, request)
        else:
            deferred = _update(api, wanted, request)
        return Accepted(physical_id=wanted.cluster_name, deferred=deferred)

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Look at the cluster and raise why it failed."""
        if request.failure:
            raise CarriedFailure(request.failure)
        wanted = HyperPodClusterProperties.parse(request.properties)
        api = self._api(wanted.cluster_name, clock, patient=False)
        described = api.describe()
        if request.type == "Delete":
            return progress_of_delete(api, described, request)
        if described is None:
            raise _gone(wanted.cluster_name)
        status = described["ClusterStatus"]
        if request.deferred and not _was_accepted(api, described, request):
            if status == _FAILED:
                raise failure(described, api.events(described))
            if status == _IN_SERVICE and not _update(api, wanted, request):
                api.add_tags(described["ClusterArn"], _accepted_tag(request))
            return NOT_YET
        if status in {_FAILED, _ROLLING_BACK, _DELETING}:
            raise failure(described, api.events(described))
        if status != _IN_SERVICE:
            return NOT_YET
        if _was_rolled_back(described, wanted, request):
            raise failure(described, (), rolled_back=True)
        return Progress(
            complete=True,
            data={
                "ClusterName": wanted.cluster_name,
                "ClusterArn": described["ClusterArn"],
                "ClusterStatus": status,
            },
        )

    def _api(self, name: str, clock: Clock, *, patient: bool) -> HyperPodApi:
        return HyperPodApi(sagemaker=self._sagemaker, name=name, clock=clock, patient=patient)


def _create(api: HyperPodApi, wanted: HyperPodClusterProperties, request: Request) -> None:
    try:
        api.create(wanted.request, request.owner.tags)
    except AWS_ERRORS as error:
        described = api.describe() if is_in_use(error) else None
        if described is None:
            raise ProvisioningError(
                f"SageMaker refused to create the HyperPod cluster {api.name}",
                detail=str(error),
                next_step="Mend what it names, then deploy again.",
            ) from error
        tags = api.tags(described["ClusterArn"])
        if not request.owner.owns_tags(tags):
            raise ProvisioningError(
                f"A HyperPod cluster {api.name} exists already and belongs to "
                f"{owner_in_tags(tags)}",
                next_step="Choose another cluster name, or delete that cluster first.",
            ) from error
        log.info("created by an earlier attempt", cluster=api.name)


def _update(api: HyperPodApi, wanted: HyperPodClusterProperties, request: Request) -> bool:
    """Make the update; return whether it must wait because the cluster is busy."""
    old = HyperPodClusterProperties.parse(request.old_properties or {})
    changes = plan(old.request, wanted.request)
    if changes.is_empty:
        log.info("nothing changed", cluster=api.name)
        return False
    described = api.describe()
    if described is None:
        raise _gone(api.name)
    changes = fitted(changes, described)
    if changes.refusals:
        raise refusal(api.name, changes)
    log.info("updating", cluster=api.name, fields=sorted(changes.update))
    try:
        api.apply(changes, described["ClusterArn"])
    except AWS_ERRORS as error:
        if is_conflict(error):
            log.info("the cluster is busy", cluster=api.name, status=described["ClusterStatus"])
            return True
        if is_transient(error):
            raise
        raise ProvisioningError(
            f"SageMaker refused to update the HyperPod cluster {api.name}",
            detail=str(error),
            next_step="Mend what it names, then deploy again.",
        ) from error
    return False


def _was_rolled_back(
    described: Mapping[str, Any], wanted: HyperPodClusterProperties, request: Request
) -> bool:
    """Say whether a rollback came and went between two polls.

    Only an all-or-nothing cluster rolls back; in Continuous mode autoscaling may change counts.
    """
    if request.type != "Update" or described.get("NodeProvisioningMode") == CONTINUOUS:
        return False
    old = HyperPodClusterProperties.parse(request.old_properties or {})
    if old.cluster_name != wanted.cluster_name:
        return False
    return not is_applied(plan(old.request, wanted.request), described)


def _was_accepted(api: HyperPodApi, described: Mapping[str, Any], request: Request) -> bool:
    tags = api.tags(described["ClusterArn"])
    return tags.get(REQUEST_TAG) == _accepted_tag(request)[REQUEST_TAG]


def _accepted_tag(request: Request) -> dict[str, str]:
    return {REQUEST_TAG: digest(request.request_id)}


def _gone(name: str) -> ProvisioningError:
    return ProvisioningError(
        f"The HyperPod cluster {name} does not exist any more",
        next_step="Find out who deleted it, then destroy this stack and deploy it again.",
    )
