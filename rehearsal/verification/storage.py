"""What must hold of file systems: their volumes and claims, and their links to S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_cdk import HomeDirectoriesConfig, LustreConfig, StorageConfig
from rehearsal.aws.clients import AwsClients
from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools
from rehearsal.verification.expectation import expect

_OBJECT = "hyperpod-cdk-verification"


def storage_checks(
    storage: StorageConfig,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, str],
) -> Iterator[Check]:
    """Yield each check as it is done.

    Args:
        storage: The section.
        tools: kubectl.
        clients: AWS; an object is put into each linked bucket, and deleted.
        outputs: Those of the storage stack.
    """
    for _, files in storage.placed_files:
        file_system_id = outputs[f"{files.output_prefix}FileSystemId"]
        yield from _claims(files, tools=tools, file_system_id=file_system_id)
        if isinstance(files, LustreConfig):
            yield from _links(files, clients=clients, file_system_id=file_system_id)
    if storage.dynamic_provisioning:
        yield expect(
            tools,
            "kubectl get storageclass fsx-dynamic -o jsonpath={.parameters.deploymentType}",
            lambda text: text == "PERSISTENT_2",
        )


def _claims(
    files: LustreConfig | HomeDirectoriesConfig, *, tools: ClusterTools, file_system_id: str
) -> Iterator[Check]:
    source = ".spec.nfs.server" if files.label == "home" else ".spec.csi.volumeHandle"
    for claim in files.claims:
        name = claim.name or f"{files.label}-claim"
        where = f"-n {claim.namespace} " if claim.namespace != "default" else ""
        found = expect(
            tools,
            f"kubectl get pvc {name} {where}-o jsonpath={{.status.phase}}",
            lambda text: text == "Bound",
        )
        yield found
        _, volume = tools.run(f"kubectl get pvc {name} {where}-o jsonpath={{.spec.volumeName}}")
        yield expect(
            tools,
            f"kubectl get pv {volume} -o jsonpath={{{source}}}",
            lambda text: text.startswith(file_system_id),
        )


def _links(files: LustreConfig, *, clients: AwsClients, file_system_id: str) -> Iterator[Check]:
    if not files.data_repositories:
        return
    fsx = clients("fsx")
    found = fsx.describe_data_repository_associations(
        Filters=[{"Name": "file-system-id", "Values": [file_system_id]}]
    )["Associations"]
    links = {each["FileSystemPath"]: each for each in found}
    for repository in files.data_repositories:
        link = links.get(repository.path, {})
        yield Check(
            check=f"aws fsx describe-data-repository-associations: {repository.path} is AVAILABLE",
            ok=link.get("Lifecycle") == "AVAILABLE",
        )
        if link and "NEW" in repository.import_events:
            location = link["DataRepositoryPath"]
            yield Check(
                check=f"a new object of {location} is a file in {repository.path}",
                ok=_appears(clients, file_system_id, path=repository.path, location=location),
            )


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
