"""Compares a described cluster with a CreateCluster input.

Answers and requests differ in shape: answers show the present state and the wanted one side by
side, statuses, and values that HyperPod fills in; a request has none of these.
"""

from collections.abc import Mapping
from typing import Any

from hyperpod_shared.cluster_changes import means_the_same, requested_value
from hyperpod_shared.clusters import COUNT, SOFTWARE_FAILED, Group
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


def is_as_described(group: Group, details: Group | None) -> bool:
    """Say whether a group is, apart from its AMI, the one that the cluster has."""
    if details is None:
        return False
    shown, asked = _requested(details, like=group), without_image(group)
    return bool(_without_empty(shown) == _without_empty(asked))


def covers(described: object, wanted: object) -> bool:
    """Say whether a described value has all that is wanted, and maybe defaults besides."""
    if isinstance(described, Mapping) and isinstance(wanted, Mapping):
        return all(key in described and covers(described[key], wanted[key]) for key in wanted)
    return means_the_same(described, wanted)


def has_image(
    details: Group, update: SoftwareUpdate, version: str | None, *, former: Group
) -> bool:
    """Say whether a group has the AMI already that an update would give it.

    None is the latest release; `former` is the group as it was asked for before.
    """
    # What is desired may still be what failed.
    failed = details.get("SoftwareUpdateStatus") in SOFTWARE_FAILED
    state = "Current" if failed else "Desired"
    image_id = details.get(f"{state}ImageId")
    is_release = version is not None and details.get(f"{state}ImageReleaseVersion") == version
    if update.image_id == DEFAULT_IMAGE:  # which AMI that is only HyperPod knows
        is_custom = image_id in {None, former.get("ImageId")}
        return not is_custom and (version is None or is_release)
    return is_release if update.image_id is None else bool(image_id == update.image_id)


def shows_image(details: Group, asked: Group) -> bool:
    """Say whether a group is described with the AMI that is asked for, or is getting it."""
    shown = [("ImageId", "DesiredImageId"), ("ImageReleaseVersion", "DesiredImageReleaseVersion")]
    return all(
        details.get(key) == asked[name]
        for name, key in shown
        if asked.get(name) not in {None, DEFAULT_IMAGE}
    )


def as_requested(details: Group) -> dict[str, Any]:
    """Return the request that leaves a group as it is."""
    asked = [COUNT, *(key for key, value in details.items() if value)]
    request: dict[str, Any] = _without_empty(_requested(details, like=dict.fromkeys(asked)))
    if "MinInstanceCount" in request:  # HyperPod takes no number below the least
        request["MinInstanceCount"] = min(request["MinInstanceCount"], request[COUNT])
    return request


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


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - any part of a request
    """Return a value without members that are there and empty, at any depth."""
    if isinstance(value, Mapping):
        kept = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


def without_image(group: Group) -> dict[str, Any]:
    """Return a group without what says its AMI."""
    return {key: value for key, value in group.items() if key not in IMAGE_KEYS}
