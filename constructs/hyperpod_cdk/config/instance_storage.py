"""Storage of an instance group's nodes: EBS volumes and FSx mounts."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import model_validator

from hyperpod_cdk.config.arns import KmsKeyId
from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import ApiLimits
from hyperpod_cdk.config.section import Section

VolumeSize = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterEbsVolumeSizeInGB", noun="a volume size in GiB")
]
DnsName = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterDnsName", noun="a file system's DNS name")
]
MountPath = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterFsxMountPath", noun="a mount path")
]


class EbsVolumeConfig(Section):
    """An EBS volume of each instance."""

    root_volume: bool = False
    """Whether this is the root volume, whose key alone can be chosen. Default: false, a second
    volume mounted at /opt/sagemaker."""

    volume_size_gib: VolumeSize | None = None
    """Size in GiB; required for the second volume, fixed by HyperPod for the root volume."""

    kms_key_id: KmsKeyId | None = None
    """ID or ARN of the KMS key that encrypts the volume; required for the root volume. HyperPod
    takes keys only with continuous provisioning, and the key's policy must allow the execution
    role kms:CreateGrant and kms:DescribeKey. Default: a key that AWS owns."""

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        refuse(self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if self.root_volume and self.volume_size_gib is not None:
            message = "must be left out for the root volume, whose size HyperPod decides"
            yield Fault(path=("volume_size_gib",), value=self.volume_size_gib, message=message)
        if self.root_volume and self.kms_key_id is None:
            message = "is missing: the key is all that can be chosen for the root volume"
            yield Fault(path=("kms_key_id",), value=None, message=message)
        if not self.root_volume and self.volume_size_gib is None:
            message = "is missing: a volume that is not the root volume needs its size"
            yield Fault(path=("volume_size_gib",), value=None, message=message)


class FsxLustreMountConfig(Section):
    """An FSx for Lustre file system that HyperPod mounts on each instance."""

    dns_name: DnsName
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_name: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterMountName", noun="a Lustre mount name")
    ]
    """Mount name of the file system."""

    mount_path: MountPath | None = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


class FsxOpenZfsMountConfig(Section):
    """An FSx for OpenZFS file system that HyperPod mounts on each instance."""

    dns_name: DnsName
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_path: MountPath | None = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


def volume_faults(volumes: Sequence[EbsVolumeConfig]) -> Iterator[Fault]:
    """Find more than one root volume, and more than one other volume.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    """
    for index, volume in enumerate(volumes):
        if volume.root_volume in [earlier.root_volume for earlier in volumes[:index]]:
            kind = "root" if volume.root_volume else "second"
            message = f"is one {kind} volume too many: an instance has one root and one second one"
            yield Fault(path=(index,), value=volume.model_dump(exclude_none=True), message=message)
