"""Deleting a HyperPod cluster: only our own, and later if it is busy."""

from collections.abc import Mapping
from typing import Any

from provisioner import log
from provisioner.aws_errors import AWS_ERRORS, is_conflict, is_transient
from provisioner.errors import ProvisioningError
from provisioner.hyperpod_api import HyperPodApi
from provisioner.hyperpod_failure import failure
from provisioner.owner import is_marked, owner_in_tags
from provisioner.request import DONE, NOT_YET, Progress, Request

_DELETING = "Deleting"
_FAILED = "Failed"


def delete_cluster(api: HyperPodApi, request: Request) -> bool:
    """Delete the cluster if it is ours; return whether that must wait because it is busy."""
    described = api.describe()
    if described is None or described["ClusterStatus"] == _DELETING:
        return False
    tags = api.tags(described["ClusterArn"])
    if not request.owner.owns_tags(tags):
        if is_marked(tags):
            log.warning("left alone: another stack's", cluster=api.name)
            return False
        raise ProvisioningError(
            f"The HyperPod cluster {api.name} has lost the tags that say this stack made it",
            detail=f"it belongs to {owner_in_tags(tags)}",
            next_step="Delete it by hand if it is not needed, then delete the stack again.",
        )
    return _delete_unless_busy(api)


def _delete_unless_busy(api: HyperPodApi) -> bool:
    try:
        api.delete()
    except AWS_ERRORS as error:
        if is_conflict(error):
            log.info("the cluster is busy", cluster=api.name)
            return True
        if is_transient(error):
            raise
        raise ProvisioningError(
            f"SageMaker refused to delete the HyperPod cluster {api.name}",
            detail=str(error),
            next_step="Remove what it names, then delete the stack again.",
        ) from error
    return False


def progress_of_delete(
    api: HyperPodApi, described: Mapping[str, Any] | None, request: Request
) -> Progress:
    """Say whether the cluster is gone, and delete it now if it was too busy before.

    Raises:
        ProvisioningError: The deletion failed.
    """
    if described is None:
        return DONE
    status = described["ClusterStatus"]
    if status == _DELETING:
        return NOT_YET
    if not request.owner.owns_tags(api.tags(described["ClusterArn"])):
        return DONE
    if status == _FAILED and not request.deferred:
        raise failure(described, api.events(described))
    _delete_unless_busy(api)
    return NOT_YET
