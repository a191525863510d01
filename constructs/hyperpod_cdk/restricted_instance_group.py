"""Restricted instance groups, for training such models as Amazon Nova."""

from dataclasses import dataclass

from hyperpod_cdk.instance_group import NodeGroup


@dataclass(frozen=True, kw_only=True, slots=True)
class RestrictedFileSystem:
    """An FSx for Lustre file system that HyperPod makes for restricted groups.

    Attributes:
        size_gib: 1200 to 100800.
        per_unit_storage_throughput: MB/s for each TiB, 125 to 1000.
    """

    size_gib: int
    per_unit_storage_throughput: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEnvironment:
    """The environment that all restricted groups share.

    Attributes:
        fsx_lustre: File system of the groups.
        fsx_lustre_deletion_policy: `Keep` or `DeleteIfNotUsed`.
    """

    fsx_lustre: RestrictedFileSystem
    fsx_lustre_deletion_policy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RestrictedInstanceGroup(NodeGroup):
    """HyperPod nodes of one instance type in a restricted environment.

    Attributes:
        instance_type: `ml.…`, one of HyperPod's.
        environment_fsx_lustre: File system of this group alone. Default: none.
    """

    instance_type: str
    environment_fsx_lustre: RestrictedFileSystem | None = None
