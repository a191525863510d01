"""The containers of AWS that training images begin with."""

from collections.abc import Iterator
from contextlib import suppress

from hyperpod_cdk import Config
from hyperpod_cdk.workloads.images import base_images as bases_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.existing_resources.resource import ExistingResource


def base_images(config: Config) -> Iterator[ExistingResource]:
    """Yield what the images of a configuration begin with."""
    if config.workloads is None:
        return
    folder = (config.workloads.base_registry or "").partition("/")[2]
    for base in bases_of(config.instance_types):
        yield _image("/".join(filter(None, (folder, base.repository))), base.tag)


def _image(repository: str, tag: str) -> ExistingResource:
    """Return an image in a registry; the local AWS has one registry for all accounts."""

    def make(clients: AwsClients) -> None:
        ecr = clients("ecr")
        with suppress(ecr.exceptions.RepositoryAlreadyExistsException):
            ecr.create_repository(repositoryName=repository)
        ecr.put_image(repositoryName=repository, imageTag=tag, imageManifest='{"schemaVersion": 2}')

    return ExistingResource(f"Container {repository}:{tag}", make)
