"""An EKS cluster as EKS describes it, and whether its Kubernetes API can be used: pure.

CloudFormation's express mode takes a cluster as made when CreateCluster is answered, minutes before
there is an endpoint (docs/adr/0046).

| status            | endpoint | what follows                                                     |
|-------------------|----------|------------------------------------------------------------------|
| ACTIVE, UPDATING, | yes      | used                                                             |
| PENDING           | no       | waited for                                                       |
| CREATING          | any      | waited for                                                       |
| DELETING          | any      | as if it were gone                                               |
| FAILED            | any      | fails with what EKS says of its health                           |
"""

from hyperpod_shared.aws_errors import AWS_ERRORS, is_not_found
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.aws.api import Answer, EksApi
from provisioner.framework.retry import Clock, aws_retried

_USABLE = frozenset({"ACTIVE", "UPDATING", "PENDING"})
_CREATING, _DELETING = "CREATING", "DELETING"


class ClusterNotFoundError(ProvisioningError):
    """The EKS cluster does not exist (any more), or is being deleted."""


class ClusterFailedError(ProvisioningError):
    """The EKS cluster failed, and never had or no longer has a Kubernetes API."""


def describe(name: str, *, eks: EksApi, clock: Clock) -> Answer:
    """Return what EKS says of a cluster, whatever its state.

    Raises:
        ClusterNotFoundError: There is no such EKS cluster.
        ClientError: EKS refused.
    """
    try:
        found: Answer = aws_retried(lambda: eks.describe_cluster(name=name)["cluster"], clock=clock)
    except AWS_ERRORS as error:
        if not is_not_found(error):
            raise
        raise ClusterNotFoundError(
            f"There is no EKS cluster {name}", next_step="Deploy the platform stack first."
        ) from error
    return found


def require_usable(found: Answer) -> None:
    """Check that the Kubernetes API of a described cluster can be used.

    Raises:
        ClusterNotFoundError: The cluster is being deleted.
        NotReadyError: The cluster is still being created.
        ClusterFailedError: The cluster failed.
    """
    name, status = found["name"], found.get("status", "ACTIVE")
    see = f"aws eks describe-cluster --name {name}"
    if status in _USABLE and found.get("endpoint"):
        return
    if status in _USABLE or status == _CREATING:
        raise NotReadyError(
            f"The EKS cluster {name} is {status} and has no endpoint that can be used yet",
            next_step=f"See {see}; deploy again when it is ACTIVE.",
        )
    what = f"The EKS cluster {name} is {status} and cannot be reached"
    if status == _DELETING:
        raise ClusterNotFoundError(
            what, next_step="Wait until it is gone, then deploy the platform stack again."
        )
    issues = (found.get("health") or {}).get("issues") or []
    raise ClusterFailedError(
        what,
        detail="; ".join(f"{issue.get('code')}: {issue.get('message')}" for issue in issues),
        next_step="EKS does not repair it: delete the stacks, fix what the message names (else see "
        f"{see}), then deploy again.",
    )
