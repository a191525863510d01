"""File systems: FSx for Lustre with its data repositories, and FSx for OpenZFS."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.claim_section import MaintainedFiles
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig
from hyperpod_cdk.synthesis.logs import access_log_bucket
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cdk.synthesis.template_parameters import in_template
from hyperpod_cdk.synthesis.trust import mark_own


@dataclass(frozen=True, slots=True)
class ImportedLustre:
    """An FSx for Lustre file system that the deployment uses, and neither changes nor deletes.

    Attributes:
        file_system_id: Its ID.
        data_repositories: The S3 locations of the links that the deployment made: none.
    """

    file_system_id: str
    data_repositories: tuple[str, ...] = ()


_KEPT_VERSIONS = Duration.days(30)


class DataBucket(Construct):
    """An S3 bucket for the files of a file system, with a second one for its access logs.

    Encrypted, versioned, TLS only, no public access, and retained with its objects. What a file or
    an object was before a change or a deletion stays for 30 days.

    CloudFormation names it. A name with `sagemaker` would open it to every role that has an AWS
    managed policy of SageMaker, the nodes' among them; FSx reads and writes by a role of its own.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=access_log_bucket(self, "AccessLogs"),
            server_access_logs_prefix="data/",
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=_KEPT_VERSIONS,
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        acknowledge(
            self.bucket,
            {
                f"{NIST}S3DefaultEncryptionKMS": (
                    "S3 encrypts it; FSx's service-linked role would need a grant on a key of its "
                    "own."
                )
            },
        )
        acknowledge(
            self,
            {
                f"{NIST}S3BucketReplicationEnabled": (
                    "It is versioned, and the file system holds what is in use; a copy in another "
                    "region is for those who need one to choose."
                )
            },
        )


_ANOTHER_ONE = "the file system would be replaced by an empty one"
_COPY = "deploy under another name and copy the files"


def _fix(
    scope: Construct,
    key: KeyPath,
    values: Mapping[str, tuple[str, str | None]],
    *,
    reason: str = _ANOTHER_ONE,
    instead: str = _COPY,
) -> None:
    """Refuse other values of keys of a section; each has the id of its construct."""
    for name, (own, value) in values.items():
        FixedValue(scope, name, key=(*key, own), value=value, reason=reason, instead=instead)


def _fix_encryption(scope: Construct, encryption_key: kms.IKey | None) -> None:
    instead = "leave the file system out by encryption.file_system: false"
    _fix(scope, (), {"KmsKeyArn": ("encryption", fixed_text(encryption_key))}, instead=instead)


def _removal_of(files: MaintainedFiles) -> RemovalPolicy:
    kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    return RemovalPolicy.DESTROY if files.delete_with_stack else kept


def _written(value: bool) -> str:
    return "true" if value else "false"


Association = fsx.CfnDataRepositoryAssociation
# FSx makes the other link before it removes this one.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
_REASON = "FSx links a directory to one S3 location, and a location to one"
_INSTEAD = (
    "leave the entry out, deploy, delete the link, which stays, with aws fsx "
    "delete-data-repository-association, and write the other one"
)


def add_data_repositories(
    scope: Construct,
    *,
    file_system_id: str,
    storage: LustreConfig,
    key: KeyPath,
    removal_policy: RemovalPolicy,
) -> list[str]:
    """Link directories of a file system to S3, where the file system's section asks for it.

    A link is known by its directory, but for the first, whose logical ID is that of 0.1.0.

    Returns:
        The S3 location of each link.
    """
    locations = []
    for index, repository in enumerate(storage.data_repositories):
        name = f"DataRepository{repository.path.replace('/', ':')}" if index else "DataRepository"
        place = (*key, "data_repositories", index)
        former = {
            f"{name}S3Uri": ("s3_uri", repository.s3_uri),
            f"{name}Path": ("path", repository.path),
            f"{name}ImportExisting": ("import_existing", _written(repository.import_existing)),
        }
        _fix(scope, place, former, reason=_REASON, instead=_INSTEAD)
        exported = list(repository.export_events)
        imported = list(repository.import_events)
        location = repository.s3_uri
        bucket = None
        if location is None:
            bucket = DataBucket(scope, f"{name}Bucket").bucket
            location = bucket.s3_url_for_object()
        # L1: there is no L2.
        association = Association(
            scope,
            name,
            file_system_id=file_system_id,
            file_system_path=repository.path,
            data_repository_path=location,
            batch_import_meta_data_on_create=repository.import_existing,
            s3=Association.S3Property(
                auto_import_policy=(
                    Association.AutoImportPolicyProperty(events=imported) if imported else None
                ),
                auto_export_policy=(
                    Association.AutoExportPolicyProperty(events=exported) if exported else None
                ),
            ),
        )
        if bucket is not None and bucket.policy is not None:
            # FSx sets notifications of the bucket while it makes the link.
            association.node.add_dependency(bucket.policy)
        association.apply_removal_policy(removal_policy)
        locations.append(location)
    return locations


_DEPLOYMENT_TYPE = fsx.LustreDeploymentType.PERSISTENT_2
# 2.15 is the newest version, and the only one with a metadata configuration.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html
_LUSTRE_VERSION = fsx.FileSystemTypeVersion.V_2_15


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
        removal_policy = _removal_of(storage)
        _fix(self, key, {"AvailabilityZoneId": ("availability_zone_id", zone_id)})
        _fix_encryption(self, encryption_key)
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
            file_system_type_version=_LUSTRE_VERSION,
            lustre_configuration=fsx.LustreConfiguration(deployment_type=_DEPLOYMENT_TYPE),
            removal_policy=removal_policy,
        )
        self.file_system_id = self.file_system.file_system_id
        # The L2 takes no tokens as numbers, no Intelligent-Tiering and no metadata configuration.
        resource = self.file_system.node.default_child
        assert isinstance(resource, fsx.CfnFileSystem)  # noqa: S101 - what the L2 makes
        mark_own(resource)
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

    The arguments are those of `Lustre`.
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


class OpenZfs(Construct):
    """An FSx for OpenZFS file system in one zone, kept when its stack is deleted.

    A creation that fails deletes it: no file is on it yet. Its root volume is exported to every
    client that the security group lets in.

    Args:
        subnet: Put it in the AZ of the nodes: another one costs transfer and latency.
        zone_id: ID of the subnet's AZ. Default: not known.
        security_group: Must let NFS (TCP 111, 2049, 20001-20003) through from the nodes.
        homes: Size, throughput, and whether deleting the stack deletes it.
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
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        _fix_encryption(self, encryption_key)
        fixed = {
            "AvailabilityZoneId": ("availability_zone_id", zone_id),
            "DeploymentType": ("deployment_type", homes.deployment_type),
            # A property of the root volume, which UpdateFileSystem does not change.
            "Compression": ("compression", homes.compression),
            "RootSquash": ("root_squash", _written(homes.root_squash)),
        }
        _fix(self, ("storage", "home_directories"), fixed)
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
        mark_own(resource)
        request: Mapping[str, Any] = homes.to_request()
        for name, value in request.items():
            resource.add_property_override(f"OpenZFSConfiguration.{name}", value)
        resource.apply_removal_policy(_removal_of(homes))
        self.file_system_id = resource.ref
