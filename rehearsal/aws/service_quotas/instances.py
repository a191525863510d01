"""The quota on instances of one HyperPod cluster; that of a type is the HyperPod API's own.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
"""

from collections.abc import Mapping
from typing import Any

from rehearsal.aws.json_service import ServiceError
from rehearsal.aws.service_quotas.values import PER_CLUSTER, VALUES

_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


def require_quota(request: Mapping[str, Any]) -> None:
    """Check that a cluster has no more instances than the quota.

    Raises:
        ServiceError: ResourceLimitExceeded.
    """
    wanted = sum(group["InstanceCount"] for kind in _KINDS for group in request.get(kind, ()))
    quota = VALUES[PER_CLUSTER]
    if wanted > quota.limit:
        raise ServiceError(
            "ResourceLimitExceeded",
            f"The account-level service limit '{quota.name}' is {quota.limit:g} Instances, with a "
            f"request of {wanted} Instances. Please use AWS Service Quotas to request an increase "
            "for this quota.",
        )
