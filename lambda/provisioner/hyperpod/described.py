"""A described cluster beside a CreateCluster input: what is so already, and what is not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provisioner.framework.owner import TAG_PREFIX
from provisioner.hyperpod.group_plan import Refusal
from provisioner.hyperpod.groups import (
    GROUP_LISTS,
    NAME,
    ClusterRequest,
    Group,
    groups_of,
    means_the_same,
    without_image,
)
from provisioner.hyperpod.plan import Plan, plan
from provisioner.hyperpod.software_plan import DEFAULT_IMAGE, SoftwareUpdate

Described = Mapping[str, Any]
_DELETING = "Deleting"
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
# HyperPod shows these with a value of its own when the request has none.
_DEFAULTED = frozenset(
    {"CapacityRequirements", "EnvironmentConfig", "NetworkInterface", "ThreadsPerCore"}
)
_SWITCHES = ("AutoScaling", "TieredStorageConfig")
_NESTED = "SharedEnvironmentConfig"
_STATES = frozenset({"FailureMessage", "S3OutputPath", "Status"})


def fitted(wanted: Plan, described: Described) -> Plan:
    """Drop from a plan what the cluster as described shows to be so already.

    When CloudFormation rolls back a refused update, the old request is one that never came true:
    its immutable values and its new groups are not those of the cluster. A group whose number of
    nodes is not asked to change is sent with the number that the cluster has now.
    """
    present = groups_of(described)
    update: dict[str, Any] = {}
    for key, value in wanted.update.items():
        if key == "InstanceGroupsToDelete":
            kept = [name for name in value if _is_there(present.get(name))]
        elif key in GROUP_LISTS:
            groups = [
                _with_count(group, present.get(group[NAME]), keep=wanted.kept_counts)
                for group in value
            ]
            kept = [
                group for group in groups if not _is_as_described(group, present.get(group[NAME]))
            ]
        else:
            kept = [] if _request_value(described.get(key)) == value else value
        if kept:
            update[key] = kept
    software = (_fitted_software(call, present) for call in wanted.software)
    return replace(
        wanted,
        update=update,
        software=tuple(call for call in software if call.groups),
        refusals=tuple(
            refusal for refusal in wanted.refusals if not _is_so_already(refusal, described)
        ),
    )


def way_back(wanted: Plan, described: Described, *, failed: ClusterRequest) -> Plan:
    """Drop from the plan of a rollback what takes back something that never came true.

    Args:
        wanted: The plan from the failed request to the one before.
        described: The cluster.
        failed: The request that failed; some, all or none of it may have been done.
    """
    present, asked = groups_of(described), groups_of(failed)
    own = [
        name
        for name, group in asked.items()
        if name in present and present[name].get("TargetCount") != group["InstanceCount"]
    ]
    software = (
        replace(
            call,
            groups=tuple(
                (name, version)
                for name, version in call.groups
                if call.image_id != DEFAULT_IMAGE
                or present.get(name, {}).get("DesiredImageId") == asked[name].get("ImageId")
            ),
        )
        for call in wanted.software
    )
    return replace(wanted, kept_counts=wanted.kept_counts.union(own), software=tuple(software))


def adoption(described: Described, tags: Mapping[str, str], wanted: ClusterRequest) -> Plan:
    """Return what makes a cluster that is there already the one that is wanted."""
    found: dict[str, Any] = {
        key: _request_value(described[key])
        for key in wanted
        if key in described and key not in GROUP_LISTS
    }
    for key in _SWITCHES:
        if (described.get(key) or {}).get("Mode") == "Enable":
            found.setdefault(key, described[key])
    like = groups_of(wanted)
    for key in GROUP_LISTS:
        found[key] = [
            _group_request(group, like=like.get(group[NAME], {}))
            for group in described.get(key) or ()
            if group.get("Status") != _DELETING
        ]
    found["Tags"] = [
        {"Key": key, "Value": value}
        for key, value in tags.items()
        if not key.startswith(("aws:", TAG_PREFIX))
    ]
    return fitted(plan(found, wanted), described)


def is_applied(made: Plan, described: Described) -> bool:
    """Say whether the groups of a plan's update are those of the cluster as described."""
    counts = {name: group.get("TargetCount") for name, group in groups_of(described).items()}
    if any(name in counts for name in made.update.get("InstanceGroupsToDelete", ())):
        return False
    return all(
        counts.get(name) == group["InstanceCount"]
        for name, group in groups_of(made.update).items()
        if name not in made.kept_counts
    )


def _is_there(group: Group | None) -> bool:
    return group is not None and group.get("Status") != _DELETING


def _with_count(group: Group, details: Group | None, *, keep: frozenset[str]) -> Group:
    if details is None or group[NAME] not in keep or "TargetCount" not in details:
        return group
    least = group.get("MinInstanceCount", 0)
    return {**group, "InstanceCount": max(details["TargetCount"], least)}


def _is_as_described(group: Group, details: Group | None) -> bool:
    if details is None or not _is_there(details):
        return False
    return _group_request(details, like=group) == without_image(group)


def _group_request(details: Group, *, like: Group) -> dict[str, Any]:
    """Return a group's details in the form of a request, to compare with one."""
    request = {
        key: _request_value(value)
        for key, value in details.items()
        if key not in _READ_ONLY and (key in like or (value and key not in _DEFAULTED))
    }
    if "TargetCount" in details:
        request["InstanceCount"] = details["TargetCount"]
    if details.get("MinCount") or "MinInstanceCount" in like:
        request["MinInstanceCount"] = details.get("MinCount")
    # HyperPod may show what is not there as something empty.
    return {key: value for key, value in request.items() if value or key in like}


def _request_value(value: object) -> object:
    """Return what a request would have for a described value.

    Answers show the state now and the one wanted side by side, and states of their own; a
    request has neither.
    """
    if not isinstance(value, Mapping):
        return value
    return {
        key.removeprefix("Desired"): _request_value(item) if key == _NESTED else item
        for key, item in value.items()
        if not key.startswith("Current") and key not in _STATES
    }


def _fitted_software(call: SoftwareUpdate, present: Mapping[str, Group]) -> SoftwareUpdate:
    return replace(
        call,
        groups=tuple(
            (name, version)
            for name, version in call.groups
            if _is_there(present.get(name)) and not _has_image(present[name], call, version)
        ),
    )


def _has_image(details: Group, call: SoftwareUpdate, version: str | None) -> bool:
    if call.image_id == DEFAULT_IMAGE:
        return False  # which AMI that is only the service knows
    if call.image_id is not None:
        return bool(details.get("DesiredImageId") == call.image_id)
    return version is not None and details.get("DesiredImageReleaseVersion") == version


def _is_so_already(refusal: Refusal, described: Described) -> bool:
    if refusal.group is None:
        return means_the_same(described.get(refusal.what), refusal.wanted)
    if refusal.what in GROUP_LISTS:
        return refusal.wanted in groups_of({refusal.what: described.get(refusal.what)})
    details = groups_of(described).get(refusal.group)
    if details is None:
        return True  # the group does not exist yet, so nothing about it is fixed
    actual = _request_value(details.get(refusal.what))
    return means_the_same(actual, refusal.wanted)
