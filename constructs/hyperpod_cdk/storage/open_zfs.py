"""FSx for OpenZFS, the file system of home directories."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.open_zfs_section import HomeDirectoriesConfig
from hyperpod_cdk.synthesis.fixed_value import FixedValue


class OpenZfs(Construct):
    """An FSx for OpenZFS file system in one zone, kept when its stack is deleted.

    A creation that fails deletes it: no file is on it yet. Its root volume is exported to every
    client that the security group lets in.

    Args:
        subnet: Put it in the AZ of the nodes: another one costs transfer and latency.
        zone_id: ID of the subnet's AZ. Default: not known.
        security_group: Must let NFS (TCP 111, 2049, 20001-20003) through from the nodes.
        homes: Size, throughput, and whether deleting the stack deletes it.
        key: Where the section is in the configuration. Default: `storage.home_directories`.
        encryption_key: KMS key of the files. Default: AWS's own key for FSx.

    Attributes:
        file_system_id: The file system's ID.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        subnet: ec2.ISubnet,
        zone_id: str | None = None,
        security_group: ec2.ISecurityGroup,
        homes: HomeDirectoriesConfig,
        key: KeyPath = ("storage", "home_directories"),
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        FixedValue(
            self,
            "KmsKeyArn",
            key=("encryption",),
            value=fixed_text(encryption_key),
            reason="the file system would be replaced by an empty one",
            instead="leave the file system out by encryption.file_system: false",
        )
        fixed = {
            "AvailabilityZoneId": ("availability_zone_id", zone_id),
            "DeploymentType": ("deployment_type", homes.deployment_type),
            # A property of the root volume, which UpdateFileSystem does not change.
            "Compression": ("compression", homes.compression),
            "RootSquash": ("root_squash", "true" if homes.root_squash else "false"),
        }
        for name, (own, value) in fixed.items():
            FixedValue(
                self,
                name,
                key=(*key, own),
                value=value,
                reason="the file system would be replaced by an empty one",
                instead="deploy under another name and copy the files",
            )
        # L1: there is no L2.
        resource = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="OPENZFS",
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[security_group.security_group_id],
            storage_capacity=homes.capacity_gib,
            kms_key_id=None if encryption_key is None else encryption_key.key_arn,
        )
        request: Mapping[str, Any] = homes.to_request()
        for name, value in request.items():
            resource.add_property_override(f"OpenZFSConfiguration.{name}", value)
        resource.apply_removal_policy(
            RemovalPolicy.DESTROY
            if homes.delete_with_stack
            else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        )
        self.file_system_id = resource.ref
