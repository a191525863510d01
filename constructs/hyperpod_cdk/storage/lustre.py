"""FSx for Lustre, the shared file system of the nodes."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.facts.versions import LUSTRE_VERSION
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.data_repositories import add_data_repositories
from hyperpod_cdk.storage.imported import ImportedLustre
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.synthesis.fixed_value import FixedValue
from hyperpod_cdk.synthesis.template_parameters import in_template

_DEPLOYMENT_TYPE = fsx.LustreDeploymentType.PERSISTENT_2
_ANOTHER_ONE = "the file system would be replaced by an empty one"
_COPY = "deploy under another name and copy the files"


class Lustre(Construct):
    """An FSx for Lustre file system, kept when its stack is deleted.

    A creation that fails deletes it: no file is on it yet.

    Deployment type PERSISTENT_2.

    Args:
        vpc: The VPC.
        subnet: Put it in the AZ of the nodes: another one costs transfer and latency.
        zone_id: ID of the subnet's AZ. Default: not known.
        security_group: Must let TCP 988 and 1018-1023 through from the nodes; for EFA, all traffic
            of its members.
        storage: Size, throughput, compression, links to S3, and whether deleting the stack deletes
            it.
        key: Where the section is in the configuration. Default: `storage`.
        encryption_key: KMS key of the files. Default: AWS's own key for FSx.

    Attributes:
        file_system: The file system.
        file_system_id: Its ID.
        data_repositories: The S3 location of each link.
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
        storage: LustreConfig,
        key: KeyPath = ("storage",),
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
            key=(*key, "availability_zone_id"),
            value=zone_id,
            reason=_ANOTHER_ONE,
            instead=_COPY,
        )
        FixedValue(
            self,
            "KmsKeyArn",
            key=("encryption",),
            value=fixed_text(encryption_key),
            reason=_ANOTHER_ONE,
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
            lustre_configuration=fsx.LustreConfiguration(deployment_type=_DEPLOYMENT_TYPE),
            removal_policy=removal_policy,
        )
        self.file_system_id = self.file_system.file_system_id
        # The L2 takes no tokens as numbers, no Intelligent-Tiering and no metadata configuration.
        resource = self.file_system.node.default_child
        assert isinstance(resource, fsx.CfnFileSystem)  # noqa: S101 - what the L2 makes
        # Set here because the L2 passes a key by its ID, so as one of this account.
        resource.kms_key_id = None if encryption_key is None else encryption_key.key_arn
        resource.storage_capacity = None if storage.is_tiered else in_template(storage.capacity_gib)
        resource.storage_type = storage.storage_type if storage.is_tiered else None
        request: Mapping[str, Any] = in_template(storage.to_request())
        for name, value in request.items():
            resource.add_property_override(f"LustreConfiguration.{name}", value)
        self.data_repositories = add_data_repositories(
            self,
            file_system_id=self.file_system_id,
            storage=storage,
            key=key,
            removal_policy=removal_policy,
        )


def lustre_file_system(
    scope: Construct,
    construct_id: str,
    *,
    vpc: ec2.IVpc,
    subnet: ec2.ISubnet,
    zone_id: str | None = None,
    security_group: ec2.ISecurityGroup,
    storage: LustreConfig,
    key: KeyPath = ("storage",),
    encryption_key: kms.IKey | None = None,
) -> Lustre | ImportedLustre:
    """Return a new file system, or the existing one that its section names.

    Args:
        scope: Parent.
        construct_id: Id.
        vpc: As for `Lustre`, and so on.
        subnet: Of a new one.
        zone_id: Of a new one.
        security_group: Of a new one.
        storage: The section.
        key: Where the section is in the configuration. Default: `storage`.
        encryption_key: Of a new one.
    """
    FixedValue(
        scope,
        f"{construct_id}CreatedAs",
        key=key,
        value=storage.created_as,
        reason=_ANOTHER_ONE,
        instead=_COPY,
    )
    if storage.file_system_id is not None:
        return ImportedLustre(storage.file_system_id)
    return Lustre(
        scope,
        construct_id,
        vpc=vpc,
        subnet=subnet,
        zone_id=zone_id,
        security_group=security_group,
        storage=storage,
        key=key,
        encryption_key=encryption_key,
    )
