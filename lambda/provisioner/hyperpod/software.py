"""Which AMIs are to change: the calls of UpdateClusterSoftware.

One call takes one ImageId and one DeploymentConfig for the groups it names, so groups are put
together by these two. A group's rolling policy is the one of its ScheduledUpdateConfig: what the
user allowed for updates on a schedule holds for one that is asked for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.clusters import NAME, SOFTWARE_FAILED, ClusterInput, Group, Groups
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
