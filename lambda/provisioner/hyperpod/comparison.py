"""Compares a described cluster with a CreateCluster input, and says which AMIs are to change.

One call of UpdateClusterSoftware takes one ImageId and one DeploymentConfig for the groups it
names, so groups are put together by these two. A group's rolling policy is the one of its
ScheduledUpdateConfig: what the user allowed for updates on a schedule holds for one that is asked
for.

Answers and requests differ in shape: answers show the present state and the wanted one side by
side, statuses, and values that HyperPod fills in; a request has none of these.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hyperpod_shared.cluster_changes import means_the_same, requested_value
from hyperpod_shared.clusters import COUNT, NAME, SOFTWARE_FAILED, ClusterInput, Group, Groups
from hyperpod_shared.owner import digest

DEFAULT_IMAGE = "default"
"""HyperPod's own AMI instead of a custom one."""
_IMAGE = "ImageId"
_VERSION = "ImageReleaseVersion"
_KEY_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareUpdate:
    """One call of UpdateClusterSoftware.

    Each of its groups has its AMI release, None for the latest one.

    The image is a custom AMI, or `default`; None where the groups have HyperPod's already.
    """

    groups: tuple[tuple[str, str | None], ...]
    image_id: str | None = None
    deployment: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Stands for the call in the claim of the request that makes it."""
        return digest(json.dumps(self.input, sort_keys=True))[:_KEY_DIGITS]

    def only(
        self, is_needed: Callable[["SoftwareUpdate", str, str | None], bool]
    ) -> "SoftwareUpdate":
        """Return the call for some of its groups."""
        groups = tuple(item for item in self.groups if is_needed(self, *item))
        return replace(self, groups=groups)

    @property
    def is_pinned(self) -> bool:
        """Whether a group shows if it has the AMI; the latest one, HyperPod alone knows."""
        if self.image_id is None:
            return all(version is not None for _, version in self.groups)
        return self.image_id != DEFAULT_IMAGE

    def shows(self, described: Groups) -> bool:
        """Say whether the described groups show if they have the AMI; a custom one they do."""
        is_default = self.image_id == DEFAULT_IMAGE
        groups = (described.get(name, {}) for name, _ in self.groups)
        return self.is_pinned or (is_default and all("DesiredImageId" in one for one in groups))

    def may_be_made(self, described: Groups) -> bool:
        """Say whether the groups show what they would after the call, if it failed at last.

        The latest AMI shows no more than that there was an update.
        """
        shown = {described.get(name, {}).get("SoftwareUpdateStatus") for name, _ in self.groups}
        return bool(shown & SOFTWARE_FAILED if self.shows(described) else shown - {None})

    @property
    def input(self) -> dict[str, Any]:
        """UpdateClusterSoftware's input without the cluster's name."""
        made: dict[str, Any] = {
            "InstanceGroups": [
                {NAME: name} if version is None else {NAME: name, _VERSION: version}
                for name, version in self.groups
            ]
        }
        if self.image_id is not None:
            made[_IMAGE] = self.image_id
        if self.deployment:
            made["DeploymentConfig"] = self.deployment
        return made


def software_updates(
    former: Mapping[str, Group], wanted: ClusterInput, *, latest: bool
) -> tuple[SoftwareUpdate, ...]:
    """Return the calls that give groups the AMI that is wanted, apart from what they have.

    `former` has groups by name as they were asked for before, with the AMI of those that others
    made; `latest` says that groups without an AMI of their own get the latest one too.
    """
    calls: dict[tuple[str | None, str], list[tuple[str, str | None]]] = {}
    # Restricted groups are left out: their AMI is HyperPod's own affair.
    for group in wanted.get("InstanceGroups") or ():
        if group[NAME] not in former:
            continue
        asked = _asked(former[group[NAME]], group, latest=latest)
        if asked is None:
            continue
        image_id, version = asked
        deployment = json.dumps(_deployment(group), sort_keys=True)
        calls.setdefault((image_id, deployment), []).append((group[NAME], version))
    return tuple(
        SoftwareUpdate(groups=tuple(groups), image_id=image_id, deployment=json.loads(deployment))
        for (image_id, deployment), groups in calls.items()
    )


def asks_for_image(group: Group) -> bool:
    """Say whether a group is to have one certain AMI."""
    return bool(group.get(_VERSION)) or group.get(_IMAGE) not in {None, DEFAULT_IMAGE}


def _asked(former: Group, group: Group, *, latest: bool) -> tuple[str | None, str | None] | None:
    image_id, version = group.get(_IMAGE), group.get(_VERSION)
    changed = (former.get(_IMAGE), former.get(_VERSION)) != (image_id, version)
    was_custom = former.get(_IMAGE) not in {None, DEFAULT_IMAGE}
    if changed and image_id not in {None, DEFAULT_IMAGE}:
        return image_id, version
    if changed and was_custom:
        return DEFAULT_IMAGE, version
    if changed and version is not None:
        return None, version
    # A release no longer asked for is kept: the nodes are not replaced for it.
    if latest and version is None and image_id in {None, DEFAULT_IMAGE}:
        return None, None
    return None


def _deployment(group: Group) -> Mapping[str, Any]:
    deployment: Mapping[str, Any] = (group.get("ScheduledUpdateConfig") or {}).get(
        "DeploymentConfig"
    ) or {}
    return deployment


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
    return shown == asked or bool(_without_empty(shown) == _without_empty(asked))


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


def shows_image(details: Group, asked: Group, *, state: str = "Desired") -> bool:
    """Say whether a group is described with the AMI that is asked for, or is getting it."""
    return all(
        details.get(f"{state}{key}") == asked[key]
        for key in IMAGE_KEYS
        if asked.get(key) not in {None, DEFAULT_IMAGE}
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
