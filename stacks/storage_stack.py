"""What lives as long as the data: the file system and its claim in the cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk import FileSystemAvailability, HelmRelease, Lustre, StorageConfig
from hyperpod_cdk.synthesis.assets import asset_directory
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
        super().__init__(
            scope,
            construct_id,
            stack_name=construct_id,
            termination_protection=not storage.delete_with_stack,
            **kwargs,
        )
        subnets = platform.network.node_subnets
        lustre = Lustre(
            self,
            "Lustre",
            vpc=platform.network.vpc,
            subnet=subnets.in_zone(storage.availability_zone_id),
            zone_id=storage.availability_zone_id or subnets.first_zone_id,
            security_group=platform.security_group,
            storage=storage,
            encryption_key=platform.keys.file_system,
        )
        file_system = lustre.file_system
        mount = FileSystemAvailability(
            self, "Availability", file_system=file_system, provisioner=platform.provisioner
        )
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
                "dnsName": mount.dns_name,
                "mountName": mount.mount_name,
                "capacityGiB": storage.capacity_gib,
            },
        )
        add_outputs(
            self,
            {
                "FileSystemId": file_system.file_system_id,
                "FileSystemDnsName": mount.dns_name,
                "FileSystemMountName": mount.mount_name,
            },
        )
