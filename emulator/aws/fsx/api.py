"""The FSx API: what shows, makes, tags and deletes file systems, such as a retained one."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from emulator.aws import json_service
from emulator.aws.cloudformation.resource_type import Refused
from emulator.aws.fsx import file_system, store
from emulator.aws.fsx.data_repository import create_task, describe_tasks, described
from emulator.aws.iam import authorization
from emulator.aws.json_service import Response, ServiceError

Request = Mapping[str, Any]


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


def _tagged(request: Request) -> dict[str, Any]:
    records = (*store.FILE_SYSTEMS.values(), *store.ASSOCIATIONS.values())
    arn = request.get("ResourceARN")
    for record in records:
        if record["ResourceARN"] == arn:
            found: dict[str, Any] = record
            return found
    raise ServiceError("ResourceNotFound", f"The resource '{arn}' does not exist.")


def _list_tags(request: Request) -> dict[str, Any]:
    return {"Tags": _tagged(request)["Tags"]}


_OPERATIONS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "CreateDataRepositoryTask": create_task,
    "CreateFileSystem": _create_file_system,
    "DeleteFileSystem": _delete_file_system,
    "DescribeDataRepositoryAssociations": _describe_associations,
    "DescribeDataRepositoryTasks": describe_tasks,
    "DescribeFileSystems": _describe_file_systems,
    "ListTagsForResource": _list_tags,
}


def _resource(request: Request) -> str:
    if "FileSystemId" in request:
        return store.arn(f"file-system/{request['FileSystemId']}")
    return str(request.get("ResourceARN", "*"))


async def handle(
    _method: str, _path: str, headers: Mapping[str, str], body: bytes, _query: Request
) -> Response:
    """Answer one FSx request."""
    name = json_service.operation(headers)
    request = json.loads(body or b"{}")
    try:
        authorization.require_caller(
            headers=headers, action=f"fsx:{name}", resource=_resource(request)
        )
        if name not in _OPERATIONS:
            raise ServiceError("UnsupportedOperation", f"fsx:{name} is not available here.")
        return json_service.respond(_OPERATIONS[name](request))
    except ServiceError as error:
        return json_service.respond_error(error)


def install() -> None:
    """Add the service to MiniStack."""
    json_service.register(
        service="fsx", target_prefix="AWSSimbaAPIService_v20180301.", handler=handle
    )
