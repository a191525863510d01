"""Tasks between a Lustre file system and S3: which of the files that they name are there."""

from collections.abc import Mapping
from typing import Any

from emulator.aws.fsx import store
from emulator.aws.fsx.data_repository_association import has_file
from emulator.aws.json_service import ServiceError

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
