"""What the roles of a HyperPod cluster may do, and what it makes of them in EKS.

What the caller of a HyperPod cluster operation must be allowed to do besides the call itself.

HyperPod acts on EKS and EC2 and passes roles with the caller's permissions: the dependent actions
of https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html, and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html.

The access entries and the service-linked role HyperPod makes on the caller's behalf.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from emulator.aws.eks import api as eks_api
from emulator.aws.eks.api import access_entry_arn
from emulator.aws.iam.authorization import Permission
from emulator.aws.kms_keys import for_volumes
from emulator.aws.ministack import eks, get_region, iam
from emulator.aws.sagemaker import cluster_request

SAGEMAKER = "sagemaker.amazonaws.com"
HYPERPOD = "hyperpod.sagemaker.amazonaws.com"
SERVICE_LINKED_ROLE = "AWSServiceRoleForSageMakerHyperPod"
SERVICE_LINKED_ROLE_PATH = f"/aws-service-role/{HYPERPOD}/"
# Which one HyperPod associates is not documented; EKS lists this one among those for HyperPod.
_ACCESS_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonSagemakerHyperpodClusterPolicy"


def _access_entry(eks_cluster_arn: str, role_arn: str) -> str:
    return access_entry_arn(eks_cluster_arn.rpartition("/")[2], role_arn)


def to_put(
    request: Mapping[str, Any], *, operation: str, eks_cluster_arn: str | None
) -> Iterator[Permission]:
    """Yield what CreateCluster and UpdateCluster need beyond the call on the cluster itself.

    Args:
        request: The operation's input.
        operation: Which of the two.
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
    for plan in cluster_request.training_plans(request):
        # Resource types of both operations in the Service Authorization Reference. The ids of
        # reserved capacity are the service's own.
        capacity = plan.partition(":training-plan/")[0] + ":reserved-capacity/0"
        yield Permission(action=f"sagemaker:{operation}", resource=plan)
        yield Permission(action=f"sagemaker:{operation}", resource=capacity)
    yield from _to_share_images(request)
    for key in cluster_request.volume_keys(request):
        yield from for_volumes(key)
    if eks_cluster_arn is None:
        return
    yield Permission(action="eks:DescribeCluster", resource=eks_cluster_arn)
    for role in roles:
        entry = _access_entry(eks_cluster_arn, role)
        yield Permission(action="eks:DescribeAccessEntry", resource=entry)
        yield Permission(action="eks:CreateAccessEntry", resource=eks_cluster_arn)
        yield Permission(
            action="eks:AssociateAccessPolicy",
            resource=entry,
            context={"eks:policyArn": _ACCESS_POLICY},
        )
        yield Permission(action="eks:DeleteAccessEntry", resource=entry)


def to_change_nodes(
    request: Mapping[str, Any], *, eks_cluster_arn: str | None
) -> Iterator[Permission]:
    """Yield what UpdateClusterSoftware and the batch operations on nodes need.

    Args:
        request: The operation's input.
        eks_cluster_arn: ARN of the orchestrating EKS cluster; None with Slurm.
    """
    yield from _to_share_images(request)
    if eks_cluster_arn is not None:
        yield Permission(action="eks:DescribeCluster", resource=eks_cluster_arn)


def to_update(
    roles: Iterable[str], *, cluster_arn: str, eks_cluster_arn: str | None
) -> Iterator[Permission]:
    """Yield what UpdateCluster needs beyond `to_put`: it adds and removes nodes, and entries.

    Args:
        roles: Execution roles that the cluster has before the update.
        cluster_arn: ARN of the HyperPod cluster.
        eks_cluster_arn: ARN of the orchestrating EKS cluster; None with Slurm.
    """
    for action in ("BatchAddClusterNodes", "BatchDeleteClusterNodes"):
        yield Permission(action=f"sagemaker:{action}", resource=cluster_arn)
    yield from to_delete(roles, eks_cluster_arn=eks_cluster_arn)


def _to_share_images(request: Mapping[str, Any]) -> Iterator[Permission]:
    """Yield what HyperPod needs to launch instances of an AMI of the caller's.

    https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-custom-ami-cluster-management.html
    """
    images = cluster_request.image_ids(request)
    if not images:
        return
    region = get_region()
    for action in ("ec2:DescribeImages", "ec2:DescribeSnapshots"):
        yield Permission(action=action, resource="*")
    for image in images:
        arn = f"arn:aws:ec2:{region}::image/{image}"
        yield Permission(action="ec2:ModifyImageAttribute", resource=arn)
    # Which snapshot an image has is not known here.
    snapshot = f"arn:aws:ec2:{region}::snapshot/snap-0"
    yield Permission(action="ec2:ModifySnapshotAttribute", resource=snapshot)


def to_delete(roles: Iterable[str], *, eks_cluster_arn: str | None) -> Iterator[Permission]:
    """Yield what DeleteCluster needs.

    Args:
        roles: Execution roles whose access entries go with the cluster.
        eks_cluster_arn: ARN of the orchestrating EKS cluster; None with Slurm.
    """
    if eks_cluster_arn is None:
        return
    for role in roles:
        entry = _access_entry(eks_cluster_arn, role)
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


_CREATED_BY = "emulator:created-by-hyperpod-cluster"


def create_access_entries(*, eks_cluster_arn: str, roles: Iterable[str], cluster_name: str) -> None:
    """Give each execution role an entry of type HYPERPOD_LINUX; an existing entry is left alone."""
    eks_name = eks_cluster_arn.rsplit("/", 1)[-1]
    for role in roles:
        if eks.ae_key(eks_name, role) not in eks.access_entries:
            body = {
                "principalArn": role,
                "type": "HYPERPOD_LINUX",
                "tags": {_CREATED_BY: cluster_name},
            }
            eks_api.answer(eks.create_access_entry(eks_name, body))


def delete_access_entries(*, eks_cluster_arn: str, roles: Iterable[str], cluster_name: str) -> None:
    """Remove the entries made for a cluster, and no other."""
    eks_name = eks_cluster_arn.rsplit("/", 1)[-1]
    for role in roles:
        entry = eks.access_entries.get(eks.ae_key(eks_name, role))
        if entry is not None and entry["tags"].get(_CREATED_BY) == cluster_name:
            eks_api.answer(eks.delete_access_entry(eks_name, role))


def has_service_linked_role() -> bool:
    """Return whether the account has HyperPod's service-linked role."""
    return SERVICE_LINKED_ROLE in iam.roles


def create_service_linked_role() -> None:
    """Create HyperPod's service-linked role."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": HYPERPOD},
        "Action": "sts:AssumeRole",
    }
    iam.create_role(
        {
            "RoleName": SERVICE_LINKED_ROLE,
            "Path": SERVICE_LINKED_ROLE_PATH,
            "AssumeRolePolicyDocument": json.dumps(
                {"Version": "2012-10-17", "Statement": [statement]}
            ),
        }
    )
