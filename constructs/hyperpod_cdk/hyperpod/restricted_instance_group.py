"""The `cluster.restricted_instance_groups` list and what its groups share."""

from typing import Annotated

from hyperpod_cdk.hyperpod.group_types import OneTypeConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import Api, Section


class RestrictedFileSystemConfig(Section):
    """An FSx for Lustre file system that HyperPod makes for restricted instance groups."""

    size_gib: Annotated[
        int,
        ApiLimits(shape_name="sagemaker.FSxLustreSizeInGiB", noun="a size in GiB"),
        Api("SizeInGiB"),
    ]
    """Size in GiB, 1200 to 100800."""

    per_unit_storage_throughput: Annotated[
        int,
        ApiLimits(
            shape_name="sagemaker.FSxLustrePerUnitStorageThroughput",
            noun="a throughput in MB/s per TiB",
        ),
        Api("PerUnitStorageThroughput"),
    ]
    """Throughput in MB/s for each TiB of size, 125 to 1000."""


class RestrictedEnvironmentConfig(Section):
    """The environment of one restricted instance group."""

    fsx_lustre: Annotated[RestrictedFileSystemConfig | None, Api("FSxLustreConfig")] = None
    """File system of the group. Default: none."""


class SharedEnvironmentConfig(Section):
    """The environment that all restricted instance groups share."""

    fsx_lustre: Annotated[RestrictedFileSystemConfig, Api("FSxLustreConfig")]
    """File system of the groups."""

    fsx_lustre_deletion_policy: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterFSxLustreDeletionPolicy", noun="a deletion policy"),
        Api("FSxLustreDeletionPolicy"),
    ]
    """Keep, or DeleteIfNotUsed: whether the file system and its files outlive the groups."""


class RestrictedInstanceGroupConfig(NodeGroupConfig, OneTypeConfig):
    """A group of identical instances in a restricted environment, to train such models as Nova."""

    environment: Annotated[RestrictedEnvironmentConfig | None, Api("EnvironmentConfig")] = None
    """Environment of this group alone. Default: the shared one."""
