"""Links between directories of a Lustre file system and S3."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.data_bucket import DataBucket
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.synthesis.fixed_value import FixedValue

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

    Args:
        scope: The construct of the file system.
        file_system_id: The file system.
        storage: Its section.
        key: Where the section is in the configuration.
        removal_policy: What becomes of a link with its stack.

    Returns:
        The S3 location of each link.
    """
    locations = []
    for index, repository in enumerate(storage.data_repositories):
        name = f"DataRepository{repository.path.replace('/', ':')}" if index else "DataRepository"
        place = (*key, "data_repositories", index)
        former = {
            "S3Uri": ("s3_uri", repository.s3_uri),
            "Path": ("path", repository.path),
            "ImportExisting": (
                "import_existing",
                "true" if repository.import_existing else "false",
            ),
        }
        for suffix, (own, value) in former.items():
            FixedValue(
                scope,
                f"{name}{suffix}",
                key=(*place, own),
                value=value,
                reason=_REASON,
                instead=_INSTEAD,
            )
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
