"""What a cluster request names, and what its caller and its roles must be allowed."""

import json
import secrets
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.eks.access import access_entry_arn
from hyperpod_emulator.aws.encryption import for_volumes
from hyperpod_emulator.aws.iam.authorization import Permission
from hyperpod_emulator.aws.ministack import eks, get_region, iam

Request = Mapping[str, Any]

_ID_ALPHABET = string.ascii_lowercase + string.digits
_S3_SCHEME = "s3://"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScript:
    """The script an instance group's nodes run first, which its execution role fetches."""

    group: str
    role_arn: str
    bucket: str
    key: str


def new_cluster_arn(*, region: str, account: str) -> str:
    """Return the ARN a new cluster could get: it ends in 12 random characters, not its name."""
    cluster_id = "".join(secrets.choice(_ID_ALPHABET) for _ in range(12))
    return f"arn:aws:sagemaker:{region}:{account}:cluster/{cluster_id}"


def _groups(request: Request) -> list[Request]:
    return [
        *(request.get("InstanceGroups") or []),
        *(request.get("RestrictedInstanceGroups") or []),
    ]


def execution_roles(request: Request) -> tuple[str, ...]:
    """Return the execution role ARN of each instance group, each once, in order."""
    roles = (group.get("ExecutionRole") for group in _groups(request))
    return tuple(dict.fromkeys(role for role in roles if role))


def training_plans(request: Request) -> tuple[str, ...]:
    """Return the ARN of each training plan that an instance group draws on, each once, in order."""
    plans = (group.get("TrainingPlanArn") for group in _groups(request))
    return tuple(dict.fromkeys(plan for plan in plans if plan))


def image_ids(request: Request) -> tuple[str, ...]:
    """Return the AMIs that a request or its instance groups name, each once, in order."""
    images = (each.get("ImageId", "") for each in (*_groups(request), request))
    return tuple(dict.fromkeys(image for image in images if image.startswith("ami-")))


def volume_keys(request: Request) -> tuple[str, ...]:
    """Return the KMS key, by id or ARN, of each volume that has one, each once, in order."""
    volumes = (
        storage.get("EbsVolumeConfig") or {}
        for group in _groups(request)
        for storage in group.get("InstanceStorageConfigs") or []
    )
    keys = (volume.get("VolumeKmsKeyId") for volume in volumes)
    return tuple(dict.fromkeys(key for key in keys if key))


def eks_cluster_arn(request: Request) -> str | None:
    """Return the orchestrating EKS cluster's ARN; also of a DescribeCluster response."""
    return ((request.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn")


def lifecycle_scripts(request: Request) -> Iterator[LifecycleScript]:
    """Yield the script of each group that has one in S3."""
    for group in _groups(request):
        config = group.get("LifeCycleConfig") or {}
        script = config.get("OnCreate") or config.get("OnInitComplete")
        uri = config.get("SourceS3Uri", "")
        if script and uri.startswith(_S3_SCHEME):
            bucket, _slash, prefix = uri.removeprefix(_S3_SCHEME).partition("/")
            yield LifecycleScript(
                group=group.get("InstanceGroupName", ""),
                role_arn=group.get("ExecutionRole", ""),
                bucket=bucket,
                key="/".join(part for part in (prefix.strip("/"), script) if part),
            )


def networks(request: Request) -> Iterator[Request]:
    """Yield each VPC configuration: the cluster's and the groups' own."""
    candidates = [request.get("VpcConfig")]
    candidates += [group.get("OverrideVpcConfig") for group in _groups(request)]
    yield from (candidate for candidate in candidates if candidate)


def has_slurm_nodes(request: Request) -> bool:
    """Say whether a request is of a cluster that Slurm orchestrates; an update may not name it."""
    return any(group.get("SlurmConfig") for group in _groups(request))


def of_slurm_nodes(request: Request) -> Iterator[tuple[str, str, Permission]]:
    """Yield the group, its execution role, and what its nodes do with it under Slurm.

    That the controller, which runs slurmdbd, reads the database's secret with its execution role
    is believed: that of the older way does, awslabs/awsome-distributed-ai,
    sagemaker-hyperpod-slurm-multi-headnode.yaml.
    """
    slurm = (request.get("Orchestrator") or {}).get("Slurm") or {}
    database = slurm.get("AccountingDatabase")
    for group in _groups(request):
        place = (group["InstanceGroupName"], group["ExecutionRole"])
        if any("FsxLustreConfig" in each for each in group.get("InstanceStorageConfigs") or ()):
            yield *place, Permission(action="fsx:DescribeFileSystems", resource="*")
        if database and (group.get("SlurmConfig") or {}).get("NodeType") == "Controller":
            secret = database["SecretArn"]
            yield *place, Permission(action="secretsmanager:GetSecretValue", resource=secret)


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

    With Slurm, there is no EKS cluster; nor below.
    """
    roles = execution_roles(request)
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
    for plan in training_plans(request):
        # Resource types of both operations in the Service Authorization Reference. The ids of
        # reserved capacity are the service's own.
        capacity = plan.partition(":training-plan/")[0] + ":reserved-capacity/0"
        yield Permission(action=f"sagemaker:{operation}", resource=plan)
        yield Permission(action=f"sagemaker:{operation}", resource=capacity)
    yield from _to_share_images(request)
    for key in volume_keys(request):
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


def to_govern(cluster: Mapping[str, Any], *, operation: str) -> Iterator[Permission]:
    """Yield what the creation of a quota or a cluster policy needs beyond the call itself.

    On which access entry is not documented: here, on that of the nodes' role.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
    """
    arn, eks_arn = cluster["ClusterArn"], eks_cluster_arn(cluster)
    yield Permission(action=f"sagemaker:{operation}", resource=arn)
    yield Permission(action="sagemaker:DescribeCluster", resource=arn)
    if eks_arn is None:
        return
    yield Permission(action="eks:DescribeCluster", resource=eks_arn)
    for role in execution_roles(cluster):
        entry = _access_entry(eks_arn, role)
        yield Permission(action="eks:ListAssociatedAccessPolicies", resource=entry)
        yield Permission(
            action="eks:AssociateAccessPolicy",
            resource=entry,
            context={"eks:policyArn": _ACCESS_POLICY},
        )


def to_cease_to_govern(cluster: Mapping[str, Any]) -> Iterator[Permission]:
    """Yield what the update or deletion of a quota or a cluster policy needs of EKS.

    So the handlers of AWS::SageMaker::ComputeQuota and AWS::SageMaker::ClusterSchedulerConfig list:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
    """
    eks_arn = eks_cluster_arn(cluster)
    if eks_arn is None:
        return
    yield Permission(action="eks:DescribeCluster", resource=eks_arn)
    for role in execution_roles(cluster):
        entry = _access_entry(eks_arn, role)
        yield Permission(action="eks:DescribeAccessEntry", resource=entry)
        yield Permission(
            action="eks:DisassociateAccessPolicy",
            resource=entry,
            context={"eks:policyArn": _ACCESS_POLICY},
        )


def to_change_nodes(
    request: Mapping[str, Any], *, eks_cluster_arn: str | None
) -> Iterator[Permission]:
    """Yield what UpdateClusterSoftware and the batch operations on nodes need."""
    yield from _to_share_images(request)
    if eks_cluster_arn is not None:
        yield Permission(action="eks:DescribeCluster", resource=eks_cluster_arn)


def to_update(
    roles: Iterable[str], *, cluster_arn: str, eks_cluster_arn: str | None
) -> Iterator[Permission]:
    """Yield what UpdateCluster needs beyond `to_put`: it adds and removes nodes, and entries.

    The roles are those of the cluster before the update.
    """
    for action in ("BatchAddClusterNodes", "BatchDeleteClusterNodes"):
        yield Permission(action=f"sagemaker:{action}", resource=cluster_arn)
    yield from to_delete(roles, eks_cluster_arn=eks_cluster_arn)


def _to_share_images(request: Mapping[str, Any]) -> Iterator[Permission]:
    """Yield what HyperPod needs to launch instances of an AMI of the caller's.

    https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-custom-ami-cluster-management.html
    """
    images = image_ids(request)
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
    """Yield what DeleteCluster needs on the access entries of roles, which go with it."""
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
        if eks._ae_key(eks_name, role) not in eks._access_entries:
            body = {
                "principalArn": role,
                "type": "HYPERPOD_LINUX",
                "tags": {_CREATED_BY: cluster_name},
            }
            eks_api.answer(eks._create_access_entry(eks_name, body))


def delete_access_entries(*, eks_cluster_arn: str, roles: Iterable[str], cluster_name: str) -> None:
    """Remove the entries made for a cluster, and no other."""
    eks_name = eks_cluster_arn.rsplit("/", 1)[-1]
    for role in roles:
        entry = eks._access_entries.get(eks._ae_key(eks_name, role))
        if entry is not None and entry["tags"].get(_CREATED_BY) == cluster_name:
            eks_api.answer(eks._delete_access_entry(eks_name, role))


def has_service_linked_role() -> bool:
    """Return whether the account has HyperPod's service-linked role."""
    return SERVICE_LINKED_ROLE in iam._roles


def create_service_linked_role() -> None:
    """Create HyperPod's service-linked role."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": HYPERPOD},
        "Action": "sts:AssumeRole",
    }
    iam._create_role(
        {
            "RoleName": SERVICE_LINKED_ROLE,
            "Path": SERVICE_LINKED_ROLE_PATH,
            "AssumeRolePolicyDocument": json.dumps(
                {"Version": "2012-10-17", "Statement": [statement]}
            ),
        }
    )
