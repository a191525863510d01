"""The API of FSx: file systems, data repository associations, and tasks."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws import json_service
from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    boolean,
    tag_map,
)
from hyperpod_emulator.aws.fsx import file_system, rules, store
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.json_service import Asked, Content, ServiceError
from hyperpod_emulator.aws.ministack import s3
from hyperpod_emulator.aws.refused import Refused

_EVENTS = {"NEW", "CHANGED", "DELETED"}
_MAX_PER_FILE_SYSTEM = 8


def described(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return an association as DescribeDataRepositoryAssociations does.

    One whose bucket is gone, or closed to FSx, is MISCONFIGURED until that is fixed.
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/dra-lifecycles.html
    """
    problem = _bucket_problem(record["DataRepositoryPath"])
    if problem is None:
        return dict(record)
    return {**record, "Lifecycle": "MISCONFIGURED", "FailureDetails": {"Message": problem}}


def has_file(record: Mapping[str, Any], path: str) -> bool:
    """Return whether the directory of an association shows an object at a path from the root."""
    directory = record["FileSystemPath"].strip("/")
    # Of the root, "/", the directory is "".
    inside = not directory or f"{path}/".startswith(f"{directory}/")
    if described(record)["Lifecycle"] != "AVAILABLE" or not inside:
        return False
    bucket, prefix = _location(record["DataRepositoryPath"])
    name = path.removeprefix(directory).strip("/")
    key = f"{prefix.rstrip('/')}/{name}".lstrip("/")
    if key not in s3._buckets[bucket]["objects"]:
        return False
    # What was there before the link comes with its creation, what came later with its events.
    policy = record["S3"].get("AutoImportPolicy") or {}
    return key in record["_Imported"] or "NEW" in policy.get("Events", ())


def _policies(properties: Properties) -> dict[str, Any]:
    s3_configuration = dict(properties.get("S3") or {})
    for name, policy in s3_configuration.items():
        unknown = set(policy.get("Events", [])) - _EVENTS
        if unknown:
            raise Refused(f"BadRequest: {name}: unknown events {', '.join(sorted(unknown))}.")
    return s3_configuration


def _require_linkable(file_system: dict[str, Any], properties: Properties) -> None:
    lustre = file_system.get("LustreConfiguration") or {}
    if lustre.get("DeploymentType") in (None, "SCRATCH_1"):
        raise Refused("BadRequest: this file system takes no data repository association.")
    siblings = [
        association
        for association in store.ASSOCIATIONS.values()
        if association["FileSystemId"] == file_system["FileSystemId"]
    ]
    if len(siblings) >= _MAX_PER_FILE_SYSTEM:
        raise Refused("ServiceLimitExceeded: a file system takes at most 8 associations.")
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for name in ("FileSystemPath", "DataRepositoryPath"):
        for association in siblings:
            if _overlap(association[name], properties[name]):
                raise Refused(
                    f"BadRequest: {name} {properties[name]} overlaps {association[name]}, which "
                    "has an association."
                )
    problem = _bucket_problem(properties["DataRepositoryPath"]) or rules.backup_problem(
        file_system, is_linked=True
    )
    if problem:
        raise Refused(f"BadRequest: {problem}")


def _overlap(one: str, other: str) -> bool:
    first, second = (f"{place.rstrip('/')}/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)


def _location(uri: str) -> tuple[str, str]:
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    return bucket, prefix


def _bucket_problem(uri: str) -> str | None:
    bucket, _ = _location(uri)
    if bucket not in s3._buckets:
        return f"DataRepositoryPath: the bucket {bucket} does not exist."
    policy = json.loads(s3._bucket_policies.get(bucket) or "{}")
    for statement in policy.get("Statement", ()):
        everybody = statement.get("Principal") in ("*", {"AWS": "*"})
        if statement["Effect"] == "Deny" and everybody and not statement.get("Condition"):
            return f"Amazon FSx is unable to access the S3 bucket {bucket}: its policy denies it."
    return None


def _create(properties: Properties) -> Created:
    file_system = store.file_system(properties["FileSystemId"])
    _require_linkable(file_system, properties)
    association_id = store.new_id("dra")
    arn = store.arn(f"association/{file_system['FileSystemId']}/{association_id}")
    is_imported = boolean(properties.get("BatchImportMetaDataOnCreate", False))
    bucket, _ = _location(properties["DataRepositoryPath"])
    store.ASSOCIATIONS[association_id] = {
        "AssociationId": association_id,
        "ResourceARN": arn,
        "FileSystemId": file_system["FileSystemId"],
        "Lifecycle": "AVAILABLE",
        "FileSystemPath": properties["FileSystemPath"],
        "DataRepositoryPath": properties["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": is_imported,
        "ImportedFileChunkSize": int(properties.get("ImportedFileChunkSize") or 1024),
        "S3": _policies(properties),
        "Tags": store.tag_list(tag_map(properties)),
        "CreationTime": store.now(),
        "_Imported": [*s3._buckets[bucket]["objects"]] if is_imported else [],
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


DATA_REPOSITORY_ASSOCIATION = ResourceType(
    name="AWS::FSx::DataRepositoryAssociation",
    create=_create,
    update=_update,
    delete=_delete,
)


Request = Mapping[str, Any]


def create_task(request: Request) -> dict[str, Any]:
    """Create a task that exports files, which fails for a path that is not there.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html
    """
    if request["Type"] != "EXPORT_TO_REPOSITORY":
        raise ServiceError("UnsupportedOperation", f"{request['Type']} is not available here.")
    links = [
        each
        for each in store.ASSOCIATIONS.values()
        if each["FileSystemId"] == request["FileSystemId"]
    ]
    if not links:
        raise ServiceError("BadRequest", "The file system has no data repository association.")
    paths = request["Paths"]
    found = [path for path in paths if any(has_file(link, path) for link in links)]
    missing = len(paths) - len(found)
    task_id = store.new_id("task")
    record = {
        "TaskId": task_id,
        "ResourceARN": store.arn(f"task/{task_id}"),
        "FileSystemId": request["FileSystemId"],
        "Type": request["Type"],
        "Paths": paths,
        "Report": request["Report"],
        "CreationTime": store.now(),
        "Lifecycle": "FAILED" if missing else "SUCCEEDED",
        "Status": {
            "TotalCount": len(paths),
            "SucceededCount": len(found),
            "FailedCount": missing,
        },
    }
    store.TASKS[task_id] = record
    return {"DataRepositoryTask": {**record, "Lifecycle": "PENDING"}}


def describe_tasks(request: Request) -> dict[str, Any]:
    """Return tasks; each has ended."""
    ids = request.get("TaskIds") or [*store.TASKS]
    return {"DataRepositoryTasks": [store.TASKS[each] for each in ids]}


def _file_system(request: Request) -> dict[str, Any]:
    try:
        return store.file_system(request.get("FileSystemId"))
    except Refused as error:
        raise ServiceError("FileSystemNotFound", str(error)) from error


def _describe_file_systems(request: Request) -> dict[str, Any]:
    ids = request.get("FileSystemIds") or list(store.FILE_SYSTEMS)
    return {"FileSystems": [store.described(_file_system({"FileSystemId": id_})) for id_ in ids]}


def _create_file_system(request: Request) -> dict[str, Any]:
    try:
        record = file_system.create(request)
    except Refused as error:
        code, _, message = str(error).partition(": ")
        raise ServiceError(code, message) from error
    store.READINESS[record["FileSystemId"]] = (1, "")
    return {"FileSystem": store.creating(record)}


def _delete_file_system(request: Request) -> dict[str, Any]:
    file_system_id = _file_system(request)["FileSystemId"]
    store.delete_file_system(file_system_id)
    return {"FileSystemId": file_system_id, "Lifecycle": "DELETING"}


def _describe_associations(request: Request) -> dict[str, Any]:
    ids = request.get("AssociationIds")
    wanted = {
        value
        for filter_ in request.get("Filters") or []
        if filter_["Name"] == "file-system-id"
        for value in filter_["Values"]
    }
    associations = [
        association
        for association_id, association in store.ASSOCIATIONS.items()
        if (not ids or association_id in ids)
        and (not wanted or association["FileSystemId"] in wanted)
    ]
    return {"Associations": [_shown(described(each)) for each in associations]}


def _shown(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if not key.startswith("_")}


_OPERATIONS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "CreateDataRepositoryTask": create_task,
    "CreateFileSystem": _create_file_system,
    "DeleteFileSystem": _delete_file_system,
    "DescribeDataRepositoryAssociations": _describe_associations,
    "DescribeDataRepositoryTasks": describe_tasks,
    "DescribeFileSystems": _describe_file_systems,
}


def _resource(request: Request) -> str:
    known = request.get("FileSystemId")
    return store.arn(f"file-system/{known}") if known else "*"


async def _answer(asked: Asked) -> Content:
    authorization.require_caller(
        headers=asked.headers, action=f"fsx:{asked.operation}", resource=_resource(asked.request)
    )
    if asked.operation not in _OPERATIONS:
        raise ServiceError("UnsupportedOperation", f"fsx:{asked.operation} is not available here.")
    return _OPERATIONS[asked.operation](asked.request)


def install() -> None:
    """Add the service to MiniStack."""
    json_service.register(
        service="fsx", target_prefix="AWSSimbaAPIService_v20180301.", answer=_answer
    )
