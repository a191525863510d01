"""FSx for Lustre, the shared file system of the nodes."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.facts.versions import LUSTRE_VERSION
from hyperpod_cdk.storage.section import StorageConfig
from hyperpod_cdk.synthesis.fixed_value import FixedValue
from hyperpod_cdk.synthesis.template_parameters import in_template


class Lustre(Construct):
    """An FSx for Lustre file system, kept when its stack is deleted.

    A creation that fails deletes it: no file is on it yet.

    Deployment type PERSISTENT_2 on SSD.

    Args:
        vpc: The VPC.
        subnet: Put it in the AZ of the nodes: another one costs transfer and latency.
        zone_id: ID of the subnet's AZ. Default: not known.
        security_group: Must let TCP 988 and 1018-1023 through from the nodes.
        storage: Size, throughput, compression, linked S3 location, and whether deleting the stack
            deletes it.
        encryption_key: KMS key of the files. Default: AWS's own key for FSx.

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
        zone_id: str | None = None,
        security_group: ec2.ISecurityGroup,
        storage: StorageConfig,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        removal_policy = (
            RemovalPolicy.DESTROY
            if storage.delete_with_stack
            else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        )
        FixedValue(
            self,
            "AvailabilityZoneId",
            key=("storage", "availability_zone_id"),
            value=zone_id,
            reason="the file system would be replaced by an empty one",
            instead="deploy under another name and copy the files",
        )
        FixedValue(
            self,
            "KmsKeyArn",
            key=("encryption",),
            value=fixed_text(encryption_key),
            reason="the file system would be replaced by an empty one",
            instead="leave the file system out by encryption.file_system: false",
        )
        self.file_system = fsx.LustreFileSystem(
            self,
            "FileSystem",
            vpc=vpc,
            vpc_subnet=subnet,
            # Imported: the L2 would add a rule for 988-1023 to the group, in another stack.
            security_group=ec2.SecurityGroup.from_security_group_id(
                self, "SecurityGroup", security_group.security_group_id, mutable=False
            ),
            storage_capacity_gib=storage.capacity_gib,
            file_system_type_version=LUSTRE_VERSION,
            lustre_configuration=fsx.LustreConfiguration(
                deployment_type=fsx.LustreDeploymentType.PERSISTENT_2,
                per_unit_storage_throughput=storage.throughput_mbps_per_tib,
                data_compression_type=fsx.LustreDataCompressionType(storage.compression),
            ),
            removal_policy=removal_policy,
        )
        # The L2 takes no tokens as numbers.
        resource = self.file_system.node.default_child
        assert isinstance(resource, fsx.CfnFileSystem)  # noqa: S101 - what the L2 makes
        # Which takes a key by its ID, as of this account.
        resource.kms_key_id = None if encryption_key is None else encryption_key.key_arn
        resource.storage_capacity = in_template(storage.capacity_gib)
        resource.add_property_override(
            "LustreConfiguration.PerUnitStorageThroughput",
            in_template(storage.throughput_mbps_per_tib),
        )
        if storage.data_repository_s3_uri is not None:
            exported = list(storage.exported_events)
            linked = {
                "data_repository_s3_uri": storage.data_repository_s3_uri,
                "data_repository_path": storage.data_repository_path,
            }
            for key, value in linked.items():
                FixedValue(
                    self,
                    key.title().replace("_", ""),
                    key=("storage", key),
                    value=value,
                    # And CloudFormation makes the other link before it removes this one.
                    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
                    reason="FSx links a directory to one S3 location, and a location to one",
                    instead="leave data_repository_s3_uri out, deploy, delete the link, which "
                    "stays, with aws fsx delete-data-repository-association, and set the other one",
                )
            # No L2.
            association = fsx.CfnDataRepositoryAssociation(
                self,
                "DataRepository",
                file_system_id=self.file_system.file_system_id,
                file_system_path=storage.data_repository_path,
                data_repository_path=storage.data_repository_s3_uri,
                batch_import_meta_data_on_create=True,
                s3=fsx.CfnDataRepositoryAssociation.S3Property(
                    auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                        events=["NEW", "CHANGED", "DELETED"]
                    ),
                    auto_export_policy=(
                        fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=exported)
                        if exported
                        else None
                    ),
                ),
            )
            association.apply_removal_policy(removal_policy)
