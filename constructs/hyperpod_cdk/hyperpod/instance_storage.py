"""Storage of an instance group's nodes: EBS volumes and FSx mounts."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from hyperpod_cdk.schema.arns import KmsKeyId
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import Api, Section, members

VolumeSize = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterEbsVolumeSizeInGB", noun="a volume size in GiB")
]
DnsName = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.ClusterDnsName",
        noun="a file system's DNS name such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    ),
]
MountPath = Annotated[
    str,
    ApiLimits(shape_name="sagemaker.ClusterFsxMountPath", noun="a mount path such as /mnt/data"),
]


class EbsVolumeConfig(Section):
    """An EBS volume of each instance."""

    root_volume: bool = False
    """Whether this is the root volume, whose key alone can be chosen. Default: false, a second
    volume mounted at /opt/sagemaker."""

    volume_size_gib: Annotated[VolumeSize | None, Api("VolumeSizeInGB")] = None
    """Size in GiB; required for the second volume, fixed by HyperPod for the root volume."""

    kms_key_id: Annotated[KmsKeyId | None, Api("VolumeKmsKeyId")] = None
    """ID or ARN of the KMS key that encrypts the volume; required for the root volume. HyperPod
    takes keys only with continuous provisioning, and the key's policy must allow the execution
    role kms:CreateGrant and kms:DescribeKey. Default: a key that AWS owns."""

    def _findings(self) -> Iterator[Finding]:
        if self.root_volume and self.volume_size_gib is not None:
            message = "must be left out for the root volume, whose size HyperPod decides"
            yield error(("volume_size_gib",), self.volume_size_gib, message)
        if self.root_volume and self.kms_key_id is None:
            message = "is missing: the key is all that can be chosen for the root volume"
            yield error(("kms_key_id",), None, message)
        if not self.root_volume and self.volume_size_gib is None:
            message = "is missing: a volume that is not the root volume needs its size"
            yield error(("volume_size_gib",), None, message)

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterEbsVolumeConfig."""
        return members({**super().to_request(), "RootVolume": self.root_volume or None})


class FsxLustreMountConfig(Section):
    """An FSx for Lustre file system that HyperPod mounts on each instance."""

    dns_name: Annotated[DnsName, Api("DnsName")]
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterMountName", noun="a Lustre mount name such as abcdefgh"
        ),
        Api("MountName"),
    ]
    """Mount name of the file system."""

    mount_path: Annotated[MountPath | None, Api("MountPath")] = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


class FsxOpenZfsMountConfig(Section):
    """An FSx for OpenZFS file system that HyperPod mounts on each instance."""

    dns_name: Annotated[DnsName, Api("DnsName")]
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_path: Annotated[MountPath | None, Api("MountPath")] = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


def encrypted(volumes: Sequence[EbsVolumeConfig], *, key_arn: str) -> tuple[EbsVolumeConfig, ...]:
    """Return volumes with a key for each that has none, the root volume among them."""
    with_keys = [
        volume if volume.kms_key_id else volume.model_copy(update={"kms_key_id": key_arn})
        for volume in volumes
    ]
    if not any(volume.root_volume for volume in volumes):
        with_keys.append(EbsVolumeConfig.model_construct(root_volume=True, kms_key_id=key_arn))
    return tuple(with_keys)


def volume_findings(volumes: Sequence[EbsVolumeConfig]) -> Iterator[Finding]:
    """Find more than one root volume, and more than one other volume.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    """
    for index, volume in enumerate(volumes):
        if volume.root_volume in [earlier.root_volume for earlier in volumes[:index]]:
            kind = "root" if volume.root_volume else "second"
            message = f"is one {kind} volume too many: an instance has one root and one second one"
            yield error((index,), volume.model_dump(exclude_none=True), message)
