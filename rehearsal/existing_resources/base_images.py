"""The containers of AWS that training images begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.workloads.images import base_images as bases_of


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseImage:
    """An image in a registry; the local AWS has one registry for all accounts.

    Attributes:
        repository: Its repository.
        tag: Its tag.
    """

    repository: str
    tag: str

    def __str__(self) -> str:
        return f"Container {self.repository}:{self.tag}"

    def make(self, clients: AwsClients) -> None:
        """Push it unless it is there."""
        ecr = clients("ecr")
        with suppress(ecr.exceptions.RepositoryAlreadyExistsException):
            ecr.create_repository(repositoryName=self.repository)
        ecr.put_image(
            repositoryName=self.repository, imageTag=self.tag, imageManifest='{"schemaVersion": 2}'
        )


def base_images(config: Config) -> Iterator[BaseImage]:
    """Yield what the images of a configuration begin with."""
    if config.workloads is None:
        return
    folder = (config.workloads.base_registry or "").partition("/")[2]
    for base in bases_of(config.instance_types):
        name = "/".join(part for part in (folder, base.repository) if part)
        yield BaseImage(repository=name, tag=base.tag)
