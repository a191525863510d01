"""Compares a described cluster with a CreateCluster input: answers and requests differ in shape.

Answers show the present state and the wanted one side by side, statuses, and values that HyperPod
fills in; a request has none of these.
"""

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_shared.clusters import COUNT, Group
from provisioner.hyperpod.software import DEFAULT_IMAGE, SoftwareUpdate

IMAGE_KEYS = frozenset({"ImageId", "ImageReleaseVersion"})
"""A group's AMI: it changes by UpdateClusterSoftware, not by UpdateCluster."""
_READ_ONLY = frozenset(
    {
        "ActiveOperations",
        "ActiveSoftwareUpdateConfig",
        "CurrentCount",
        "CurrentImageId",
        "CurrentImageReleaseVersion",
        "DesiredImageId",
        "DesiredImageReleaseVersion",
        "ImageVersionStatus",
        "InstanceTypeDetails",
        "MinCount",
        "SoftwareUpdateStatus",
        "Status",
        "TargetCount",
        "TargetStateCount",
        "TrainingPlanStatus",
    }
)
# HyperPod shows these with a value that it chose when the request has none.
_DEFAULTED = frozenset(
    {"CapacityRequirements", "EnvironmentConfig", "NetworkInterface", "ThreadsPerCore"}
)
_NESTED = "SharedEnvironmentConfig"
_STATES = frozenset({"FailureMessage", "S3OutputPath", "Status"})


def is_as_described(group: Group, details: Group | None) -> bool:
    """Say whether a group is, apart from its AMI, the one that the cluster has."""
    if details is None:
        return False
    return _requested(details, like=group) == without_image(group)


def requested_value(value: object) -> object:
    """Return what a request would have for a described value."""
    if not isinstance(value, Mapping):
        return value
    return {
        key.removeprefix("Desired"): requested_value(item) if key == _NESTED else item
        for key, item in value.items()
        if not key.startswith("Current") and key not in _STATES
    }


def covers(described: object, wanted: object) -> bool:
    """Say whether a described value has all that is wanted, and maybe defaults besides."""
    if isinstance(described, Mapping) and isinstance(wanted, Mapping):
        return all(key in described and covers(described[key], wanted[key]) for key in wanted)
    return means_the_same(described, wanted)


def has_image(details: Group, update: SoftwareUpdate, version: str | None) -> bool:
    """Say whether a group has the AMI already that an update would give it."""
    if update.image_id == DEFAULT_IMAGE:
        return False  # which AMI that is only HyperPod knows
    if update.image_id is not None:
        return bool(details.get("DesiredImageId") == update.image_id)
    return version is not None and details.get("DesiredImageReleaseVersion") == version


def as_requested(details: Group) -> dict[str, Any]:
    """Return the request that leaves a group as it is."""
    asked = [COUNT, *(key for key, value in details.items() if value)]
    return _requested(details, like=dict.fromkeys(asked))


def _requested(details: Group, *, like: Group) -> dict[str, Any]:
    """Return a group's details in the form of a request, to compare with one."""
    request = {
        key: requested_value(value)
        for key, value in details.items()
        if key not in _READ_ONLY and (key in like or (value and key not in _DEFAULTED))
    }
    if "TargetCount" in details:
        request[COUNT] = details["TargetCount"]
    if details.get("MinCount") or "MinInstanceCount" in like:
        request["MinInstanceCount"] = details.get("MinCount")
    # HyperPod may describe an absent member as an empty one.
    return {key: value for key, value in request.items() if value or key in like}


def without_image(group: Group) -> dict[str, Any]:
    """Return a group without what says its AMI."""
    return {key: value for key, value in group.items() if key not in IMAGE_KEYS}


def means_the_same(one: object, other: object) -> bool:
    """Compare regardless of the order of lists: subnets and security groups have none."""
    return one == other or _canonical(one) == _canonical(other)


def _canonical(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [f"{key}={_canonical(item)}" for key, item in sorted(value.items())]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(sorted(map(_canonical, value))) + "]"
    return json.dumps(value, default=str)
