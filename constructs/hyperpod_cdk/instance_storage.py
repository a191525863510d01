"""Storage of an instance group's nodes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class EbsVolume:
    """An EBS volume of each node: the root volume, or a second one at /opt/sagemaker.

    Attributes:
        root_volume: Whether it is the root volume, whose key alone can be chosen. Default: no.
        volume_size_gib: 1 to 16384; not of the root volume.
        kms_key_id: ID or ARN of the KMS key; the root volume needs one. Default: a key AWS owns.
    """

    root_volume: bool = False
    volume_size_gib: int | None = None
    kms_key_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FsxLustreMount:
    """An FSx for Lustre file system that HyperPod mounts on each node.

    Attributes:
        dns_name: DNS name of the file system.
        mount_name: Its mount name.
        mount_path: Directory of the node. Default: HyperPod's choice.
    """

    dns_name: str
    mount_name: str
    mount_path: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FsxOpenZfsMount:
    """An FSx for OpenZFS file system that HyperPod mounts on each node.

    Attributes:
        dns_name: DNS name of the file system.
        mount_path: Directory of the node. Default: HyperPod's choice.
    """

    dns_name: str
    mount_path: str | None = None
