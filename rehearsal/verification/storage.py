"""Whether a new object of a linked bucket becomes a file, which only a write shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.stacks.table import stack_name
from rehearsal.report import Check

_OBJECT = "hyperpod-cdk-verification"


def new_objects(
    config: Config, *, clients: AwsClients, outputs: Mapping[str, Mapping[str, str]]
) -> Iterator[Check]:
    """Yield a check for each bucket whose new objects are imported.

    Args:
        config: The configuration.
        clients: AWS; an object is put into each linked bucket, and deleted.
        outputs: The outputs of each stack, by the name of the stack.
    """
    if config.storage is None:
        return
    for _, files in config.storage.file_systems:
        identifier = outputs[stack_name(config, "storage")][f"{files.output_prefix}FileSystemId"]
        for repository in files.data_repositories:
            location = _location(clients, identifier, path=repository.path)
            if location is not None and "NEW" in repository.import_events:
                yield Check(
                    check=f"a new object of {location} is a file in {repository.path}",
                    ok=_appears(clients, identifier, path=repository.path, location=location),
                )


def _location(clients: AwsClients, file_system_id: str, *, path: str) -> str | None:
    """Return what a directory is linked to; None if it is not linked."""
    of_files = [{"Name": "file-system-id", "Values": [file_system_id]}]
    answer = clients("fsx").describe_data_repository_associations(Filters=of_files)
    links = {each["FileSystemPath"]: each["DataRepositoryPath"] for each in answer["Associations"]}
    location: str | None = links.get(path)
    return location


def _appears(clients: AwsClients, file_system_id: str, *, path: str, location: str) -> bool:
    """Return whether an object becomes a file: FSx fails to export one that is not there."""
    s3, fsx = clients("s3"), clients("fsx")
    bucket, _, prefix = location.removeprefix("s3://").partition("/")
    key = f"{prefix.rstrip('/')}/{_OBJECT}".lstrip("/")
    s3.put_object(Bucket=bucket, Key=key, Body=b"")
    task = fsx.create_data_repository_task(
        FileSystemId=file_system_id,
        Type="EXPORT_TO_REPOSITORY",
        Paths=[f"{path.strip('/')}/{_OBJECT}".lstrip("/")],
        Report={"Enabled": False},
    )["DataRepositoryTask"]["TaskId"]
    [ended] = fsx.describe_data_repository_tasks(TaskIds=[task])["DataRepositoryTasks"]
    s3.delete_object(Bucket=bucket, Key=key)
    return bool(ended["Lifecycle"] == "SUCCEEDED")
