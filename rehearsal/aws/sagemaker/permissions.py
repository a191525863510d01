"""What the caller of a HyperPod cluster operation must be allowed to do besides the call itself.

HyperPod acts on EKS and passes roles with the caller's permissions (SageMaker Developer Guide,
"IAM users for cluster admin"; the permissions of the AWS::SageMaker::Cluster handlers).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rehearsal.aws.sagemaker import cluster_request

SAGEMAKER = "sagemaker.amazonaws.com"
HYPERPOD = "hyperpod.sagemaker.amazonaws.com"
SERVICE_LINKED_ROLE = "AWSServiceRoleForSageMakerHyperPod"
SERVICE_LINKED_ROLE_PATH = f"/aws-service-role/{HYPERPOD}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One thing the caller must be allowed to do.

    Attributes:
        action: IAM action.
        resource: ARN it is done to.
        context: Condition keys.
    """

    action: str
    resource: str
    context: Mapping[str, str] = field(default_factory=dict)


def access_entry_arn(*, eks_cluster_arn: str, role_arn: str) -> str:
    """Return the ARN of a role's access entry as IAM sees it, with a made-up last part."""
    prefix, _slash, name = eks_cluster_arn.rpartition(":cluster/")
    account, role_name = role_arn.split(":")[4], role_arn.rsplit("/", 1)[-1]
    return f"{prefix or name}:access-entry/{name}/role/{account}/{role_name}/0"


def to_put(request: Mapping[str, Any], *, eks_cluster_arn: str | None) -> Iterator[Permission]:
    """Yield what CreateCluster and UpdateCluster need.

    Args:
        request: The operation's input.
        eks_cluster_arn: ARN of the orchestrating EKS cluster; None with Slurm.
    """
    roles = cluster_request.execution_roles(request)
    for role in roles:
        yield Permission(
            action="iam:PassRole", resource=role, context={"iam:PassedToService": SAGEMAKER}
        )
    if request.get("ClusterRole"):
        yield Permission(
            action="iam:PassRole",
            resource=request["ClusterRole"],
            context={"iam:PassedToService": HYPERPOD},
        )
    if eks_cluster_arn is None:
        return
    yield Permission(action="eks:DescribeCluster", resource=eks_cluster_arn)
    for role in roles:
        entry = access_entry_arn(eks_cluster_arn=eks_cluster_arn, role_arn=role)
        yield Permission(action="eks:DescribeAccessEntry", resource=entry)
        yield Permission(action="eks:CreateAccessEntry", resource=eks_cluster_arn)
        yield Permission(action="eks:AssociateAccessPolicy", resource=entry)


def to_delete(roles: Iterable[str], *, eks_cluster_arn: str | None) -> Iterator[Permission]:
    """Yield what DeleteCluster needs.

    Args:
        roles: Execution roles whose access entries go with the cluster.
        eks_cluster_arn: ARN of the orchestrating EKS cluster; None with Slurm.
    """
    if eks_cluster_arn is None:
        return
    for role in roles:
        entry = access_entry_arn(eks_cluster_arn=eks_cluster_arn, role_arn=role)
        yield Permission(action="eks:DescribeAccessEntry", resource=entry)
        yield Permission(action="eks:DeleteAccessEntry", resource=entry)


def to_create_service_linked_role(*, account: str) -> Permission:
    """Return what the first HyperPod cluster of an account needs: it makes the service's role."""
    arn = f"arn:aws:iam::{account}:role{SERVICE_LINKED_ROLE_PATH}{SERVICE_LINKED_ROLE}"
    return Permission(
        action="iam:CreateServiceLinkedRole",
        resource=arn,
        context={"iam:AWSServiceName": HYPERPOD},
    )
