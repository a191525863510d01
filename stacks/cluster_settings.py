"""Settings of the configuration's whole cluster as the constructs take them."""

from hyperpod_cdk.cluster_request import TieredStorage
from hyperpod_cdk.config.cluster import TieredStorageConfig
from hyperpod_cdk.config.restricted_instance_group import (
    RestrictedFileSystemConfig,
    SharedEnvironmentConfig,
)
from hyperpod_cdk.restricted_instance_group import RestrictedFileSystem, SharedEnvironment


def tiered_storage(section: TieredStorageConfig | None) -> TieredStorage | None:
    """Return the managed tiered checkpointing."""
    if section is None:
        return None
    return TieredStorage(
        mode=section.mode, instance_memory_percentage=section.instance_memory_percentage
    )


def shared_environment(section: SharedEnvironmentConfig | None) -> SharedEnvironment | None:
    """Return the environment that restricted groups share."""
    if section is None:
        return None
    return SharedEnvironment(
        fsx_lustre=restricted_file_system(section.fsx_lustre),
        fsx_lustre_deletion_policy=section.fsx_lustre_deletion_policy,
    )


def restricted_file_system(section: RestrictedFileSystemConfig) -> RestrictedFileSystem:
    """Return a file system that HyperPod makes for restricted groups."""
    return RestrictedFileSystem(
        size_gib=section.size_gib,
        per_unit_storage_throughput=section.per_unit_storage_throughput,
    )
