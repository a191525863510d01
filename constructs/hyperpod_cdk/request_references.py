"""What a CreateCluster input names that somebody must have rights on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Request = Mapping[str, Any]

_HYPERPODS_LATEST_IMAGE = "default"


def execution_roles(request: Request) -> list[str]:
    """Return the role of each group, each once."""
    return _once(group["ExecutionRole"] for group in _groups(request))


def volume_keys(request: Request) -> list[str]:
    """Return the ID or ARN of each KMS key of a volume, each once."""
    return _once(
        storage["EbsVolumeConfig"].get("VolumeKmsKeyId")
        for group in _groups(request)
        for storage in group.get("InstanceStorageConfigs", ())
        if "EbsVolumeConfig" in storage
    )


def training_plans(request: Request) -> list[str]:
    """Return the ARN of each training plan, each once."""
    return _once(group.get("TrainingPlanArn") for group in _groups(request))


def images(request: Request) -> list[str]:
    """Return the ID of each AMI that a group names, each once."""
    named = _once(group.get("ImageId") for group in _groups(request))
    return [image for image in named if image != _HYPERPODS_LATEST_IMAGE]


def _groups(request: Request) -> Iterator[Request]:
    yield from request.get("InstanceGroups", ())
    yield from request.get("RestrictedInstanceGroups", ())


def _once(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value is not None))
