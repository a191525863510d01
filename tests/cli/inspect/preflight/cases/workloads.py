"""Containers that training images begin with."""

from collections.abc import Mapping
from typing import Any

from tests.support.failure import Failure, creating
from tests.support.partial_deployment import Deployment, example

_DOCUMENT: Mapping[str, Any] = example("workloads")
_REPOSITORY = creating("workloads", "AWS::ECR::Repository")


def _without_the_tag(deployment: Deployment) -> None:
    ecr = deployment.client("ecr")
    for name in ("pytorch-training", "pytorch-training-neuronx"):
        ecr.create_repository(repositoryName=name)


def _nothing(_deployment: Deployment) -> None:
    """Leave the registry empty."""


FAILURES = (
    Failure(
        validator="base-images",
        name="no such repository",
        document=_DOCUMENT,
        before=_nothing,
        found=r"workloads.base_registry: .*pytorch-training:2.7.1-.*RepositoryNotFoundException",
        deploy=_REPOSITORY,
        said=None,
    ),
    Failure(
        validator="base-images",
        name="no such tag",
        document=_DOCUMENT,
        before=_without_the_tag,
        found=r"workloads.base_registry: .*neuronx:\S+ \(no such tag\); name a registry",
        deploy=_REPOSITORY,
        said=None,
    ),
)
