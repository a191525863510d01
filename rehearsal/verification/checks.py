"""What must hold after a deployment: what `verify` checks, images, and links to buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubernetes.config import new_client_from_config

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.helm.images import is_from_outside
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.verify import verify as checks_of
from hyperpod_stacks.table import stack_name
from rehearsal.report import Check
from rehearsal.verification.inspection import ClusterTools

IMAGES_ARE_REACHED = "images are those of the registry, and of ECR in the region"
_OBJECT = "hyperpod-cdk-verification"


def verify(
    config: Config,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, Mapping[str, str]],
    deployer: Callable[[str], Any] | None = None,
) -> Iterator[Check]:
    """Yield each check as it is done.

    Args:
        config: What is deployed.
        tools: kubectl and helm.
        clients: AWS.
        outputs: The outputs of each stack, by the name of the stack.
        deployer: Returns the client of a service with the rights of whoever deploys, who verifies
            it too. Default: the rights are not tried.
    """
    with new_client_from_config(config_file=str(tools.kubeconfig)) as kubernetes:
        deployment = LiveDeployment(
            config=config, client=deployer or clients, kubernetes=kubernetes, outputs=outputs
        )
        for each in checks_of(deployment):
            yield Check(check=each.title, ok=each.ok, found=each.found, advice=each.advice)
    yield from image_checks(config, tools=tools, region=clients("ec2").meta.region_name)
    yield from new_objects(config, clients=clients, outputs=outputs)


def image_checks(config: Config, *, tools: ClusterTools, region: str) -> Iterator[Check]:
    """Yield whether a closed network reaches each image of what is installed.

    Nodes of the local AWS pull nothing, so this tells what theirs would fail at.
    """
    if not config.network.closed:
        return
    images: set[str] = set()
    for kind in ("daemonsets", "deployments"):
        fields = "{.items[*].spec.template.spec['initContainers','containers'][*].image}"
        command = f'kubectl get {kind} -A -o "jsonpath={fields}"'
        succeeded, text = tools.run(command)
        if not succeeded:
            yield Check(check=command, ok=False)
            return
        images |= set(text.split())
    registry = config.helm.image_registry
    outside = sorted(
        image for image in images if is_from_outside(image, registry=registry, region=region)
    )
    but = f", but {', '.join(outside)}" if outside else ""
    yield Check(check=f"{IMAGES_ARE_REACHED}{but}", ok=bool(images) and not outside)


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
