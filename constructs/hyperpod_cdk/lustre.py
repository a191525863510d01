"""FSx for Lustre, the shared file system of the nodes."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from hyperpod_cdk.versions import LUSTRE_VERSION


class DataCompression(StrEnum):
    """Compression of file data."""

    LZ4 = "LZ4"
    NONE = "NONE"


@dataclass(frozen=True, kw_only=True, slots=True)
class DataRepository:
    """An S3 location linked into the file system, in both directions.

    Attributes:
        s3_uri: `s3://bucket/prefix`.
        path: Directory in the file system. Default: `/s3`.
    """

    s3_uri: str
    path: str = "/s3"


class Lustre(Construct):
    """An FSx for Lustre file system, kept when its stack is deleted.

    Deployment type PERSISTENT_2 on SSD.

    Args:
        vpc: The VPC.
        subnet: Put it in the AZ of the nodes: another one costs transfer and latency.
        security_group: Must let TCP 988 and 1018-1023 through from the nodes.
        capacity_gib: 1200, 2400 or a multiple of 2400. It can grow later, never shrink.
        throughput_mbps_per_tib: 125, 250, 500 or 1000
            (https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html).
        compression: Default: LZ4.
        data_repository: S3 location linked into it. Default: none.
        delete_with_stack: Delete the file system and all its files with the stack. Default: it is
            retained and goes on being billed.

    Attributes:
        file_system: The file system.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        security_group: ec2.ISecurityGroup,
        capacity_gib: int,
        throughput_mbps_per_tib: int,
        compression: DataCompression = DataCompression.LZ4,
        data_repository: DataRepository | None = None,
        delete_with_stack: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        removal_policy = RemovalPolicy.DESTROY if delete_with_stack else RemovalPolicy.RETAIN
        self.file_system = fsx.LustreFileSystem(
            self,
            "FileSystem",
            vpc=vpc,
            vpc_subnet=subnet,
            # Imported: the L2 would add a rule for 988-1023 to the group, in another stack.
            security_group=ec2.SecurityGroup.from_security_group_id(
                self, "SecurityGroup", security_group.security_group_id, mutable=False
            ),
            storage_capacity_gib=capacity_gib,
            file_system_type_version=LUSTRE_VERSION,
            lustre_configuration=fsx.LustreConfiguration(
                deployment_type=fsx.LustreDeploymentType.PERSISTENT_2,
                per_unit_storage_throughput=throughput_mbps_per_tib,
                data_compression_type=fsx.LustreDataCompressionType(compression.value),
                copy_tags_to_backups=True,
            ),
            removal_policy=removal_policy,
        )
        if data_repository is not None:
            events = ["NEW", "CHANGED", "DELETED"]
            # No L2.
            association = fsx.CfnDataRepositoryAssociation(
                self,
                "DataRepository",
                file_system_id=self.file_system.file_system_id,
                file_system_path=data_repository.path,
                data_repository_path=data_repository.s3_uri,
                batch_import_meta_data_on_create=True,
                s3=fsx.CfnDataRepositoryAssociation.S3Property(
                    auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                        events=events
                    ),
                    auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                        events=events
                    ),
                ),
            )
            association.apply_removal_policy(removal_policy)
