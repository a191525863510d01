"""What a CreateCluster or UpdateCluster request names. Pure functions."""

import secrets
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Request = Mapping[str, Any]

_ID_ALPHABET = string.ascii_lowercase + string.digits
_S3_SCHEME = "s3://"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScript:
    """The script an instance group's nodes run first.

    Attributes:
        group: Name of the instance group.
        role_arn: Its execution role, which fetches the script.
        bucket: Bucket of the script.
        key: Object key of the script.
    """

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
