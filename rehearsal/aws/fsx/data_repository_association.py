"""AWS::FSx::DataRepositoryAssociation."""

from typing import Any

from ministack.services import s3

from rehearsal.aws.cloudformation.resource_type import (
    Created,
    Properties,
    Refused,
    ResourceType,
    boolean,
    tag_map,
)
from rehearsal.aws.fsx import store

_EVENTS = {"NEW", "CHANGED", "DELETED"}
_MAX_PER_FILE_SYSTEM = 8


def _policies(properties: Properties) -> dict[str, Any]:
    s3_configuration = dict(properties.get("S3") or {})
    for name, policy in s3_configuration.items():
        unknown = set(policy.get("Events", [])) - _EVENTS
        if unknown:
            raise Refused(f"BadRequest: {name}: unknown events {', '.join(sorted(unknown))}.")
    return s3_configuration


def _require_linkable(file_system: dict[str, Any], properties: Properties) -> None:
    if file_system["LustreConfiguration"]["DeploymentType"] == "SCRATCH_1":
        raise Refused("BadRequest: SCRATCH_1 file systems take no data repository association.")
    siblings = [
        association
        for association in store.ASSOCIATIONS.values()
        if association["FileSystemId"] == file_system["FileSystemId"]
    ]
    if len(siblings) >= _MAX_PER_FILE_SYSTEM:
        raise Refused("ServiceLimitExceeded: a file system takes at most 8 associations.")
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for name in ("FileSystemPath", "DataRepositoryPath"):
        if any(association[name] == properties[name] for association in siblings):
            raise Refused(f"BadRequest: {name} {properties[name]} already has an association.")
    bucket = properties["DataRepositoryPath"].removeprefix("s3://").split("/", 1)[0]
    if bucket not in s3._buckets:
        raise Refused(f"BadRequest: DataRepositoryPath: the bucket {bucket} does not exist.")


def _create(properties: Properties) -> Created:
    file_system = store.file_system(properties["FileSystemId"])
    _require_linkable(file_system, properties)
    association_id = store.new_id("dra")
    arn = store.arn(f"association/{file_system['FileSystemId']}/{association_id}")
    store.ASSOCIATIONS[association_id] = {
        "AssociationId": association_id,
        "ResourceARN": arn,
        "FileSystemId": file_system["FileSystemId"],
        "Lifecycle": "AVAILABLE",
        "FileSystemPath": properties["FileSystemPath"],
        "DataRepositoryPath": properties["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": boolean(
            properties.get("BatchImportMetaDataOnCreate", False)
        ),
        "ImportedFileChunkSize": int(properties.get("ImportedFileChunkSize") or 1024),
        "S3": _policies(properties),
        "Tags": store.tag_list(tag_map(properties)),
        "CreationTime": store.now(),
    }
    return association_id, {"AssociationId": association_id, "ResourceARN": arn}


def _update(association_id: str, _old: Properties, new: Properties) -> Created:
    record = store.ASSOCIATIONS[association_id]
    record["S3"] = _policies(new)
    record["ImportedFileChunkSize"] = int(new.get("ImportedFileChunkSize") or 1024)
    record["Tags"] = store.tag_list(tag_map(new))
    return association_id, {"AssociationId": association_id, "ResourceARN": record["ResourceARN"]}


def _delete(association_id: str, _properties: Properties) -> None:
    store.ASSOCIATIONS.pop(association_id, None)


TYPE = ResourceType(
    name="AWS::FSx::DataRepositoryAssociation",
    create=_create,
    update=_update,
    delete=_delete,
)
