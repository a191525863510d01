"""What lives as long as the data: the file system and its claim in the cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.assets import asset_directory
from hyperpod_cdk.config import StorageConfig
from hyperpod_cdk.helm_release import HelmRelease
from hyperpod_cdk.lustre import DataCompression, DataRepository, Lustre
from stacks.outputs import add_outputs
from stacks.platform_stack import PlatformStack


class StorageStack(cdk.Stack):
    """FSx for Lustre, and the volume and claim through which pods mount it.

    Protected from termination, and the file system retained, unless the configuration says twice
    that the files may go.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        storage: StorageConfig,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        delete_with_stack = storage.delete_with_stack
        super().__init__(
            scope, construct_id, termination_protection=not delete_with_stack, **kwargs
        )
        lustre = Lustre(
            self,
            "Lustre",
            vpc=platform.network.vpc,
            subnet=platform.network.hyperpod_subnet_in(storage.availability_zone_id),
            security_group=platform.security_group,
            capacity_gib=storage.capacity_gib,
            throughput_mbps_per_tib=storage.throughput_mbps_per_tib,
            compression=DataCompression(storage.compression),
            data_repository=_data_repository(storage),
            delete_with_stack=delete_with_stack,
        )
        file_system = lustre.file_system
        HelmRelease(
            self,
            "Claim",
            cluster=platform.eks_cluster,
            provisioner=platform.provisioner,
            chart=asset_directory("charts") / "fsx-storage",
            release="fsx-storage",
            namespace="kube-system",
            values={
                "fileSystemId": file_system.file_system_id,
                "dnsName": file_system.dns_name,
                "mountName": file_system.mount_name,
                "capacityGiB": storage.capacity_gib,
            },
        )
        add_outputs(
            self,
            {
                "FileSystemId": file_system.file_system_id,
                "FileSystemDnsName": file_system.dns_name,
                "FileSystemMountName": file_system.mount_name,
            },
        )


def _data_repository(storage: StorageConfig) -> DataRepository | None:
    if storage.data_repository_s3_uri is None:
        return None
    return DataRepository(s3_uri=storage.data_repository_s3_uri, path=storage.data_repository_path)
