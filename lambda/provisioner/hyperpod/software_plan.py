"""Which AMIs are to change: UpdateClusterSoftware's calls, from two CreateCluster inputs.

One call takes one ImageId and one DeploymentConfig for the groups it names, so groups are put
together by these two. A group's rolling policy is the one of its ScheduledUpdateConfig: what the
user allowed for updates on a schedule holds for one that is asked for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provisioner.hyperpod.groups import NAME, ClusterRequest, Group, groups_of

DEFAULT_IMAGE = "default"
"""HyperPod's own AMI instead of a custom one."""
_IMAGE = "ImageId"
_VERSION = "ImageReleaseVersion"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareUpdate:
    """One call of UpdateClusterSoftware.

    Args:
        groups: The groups' names, each with its AMI release; None for the latest one.
        image_id: A custom AMI, or `default`; None where the groups have HyperPod's already.
        deployment: DeploymentConfig; empty for all nodes of a group at once.
    """

    groups: tuple[tuple[str, str | None], ...]
    image_id: str | None = None
    deployment: Mapping[str, Any]

    @property
    def names(self) -> frozenset[str]:
        """The groups' names."""
        return frozenset(name for name, _ in self.groups)

    @property
    def request(self) -> dict[str, Any]:
        """UpdateClusterSoftware's input without the cluster's name."""
        request: dict[str, Any] = {
            "InstanceGroups": [
                {NAME: name} if version is None else {NAME: name, _VERSION: version}
                for name, version in self.groups
            ]
        }
        if self.image_id is not None:
            request[_IMAGE] = self.image_id
        if self.deployment:
            request["DeploymentConfig"] = self.deployment
        return request


def software_updates(
    old: ClusterRequest, new: ClusterRequest, *, everything: bool
) -> tuple[SoftwareUpdate, ...]:
    """Return the calls that give groups in both requests the AMI that the new one wants.

    Args:
        old: The CreateCluster input that the cluster was last given.
        new: The one that is wanted now.
        everything: Whether groups without an AMI of their own get the latest one too.
    """
    before = groups_of(old)
    calls: dict[tuple[str | None, str], list[tuple[str, str | None]]] = {}
    # Restricted groups are left out: their AMI is the service's own affair.
    for name, group in groups_of({"InstanceGroups": new.get("InstanceGroups")}).items():
        if name not in before:
            continue
        asked = _asked(before[name], group, everything=everything)
        if asked is None:
            continue
        image_id, version = asked
        deployment = json.dumps(_deployment(group), sort_keys=True)
        calls.setdefault((image_id, deployment), []).append((name, version))
    return tuple(
        SoftwareUpdate(groups=tuple(groups), image_id=image_id, deployment=json.loads(deployment))
        for (image_id, deployment), groups in calls.items()
    )


def _asked(
    before: Group, after: Group, *, everything: bool
) -> tuple[str | None, str | None] | None:
    image_id, version = after.get(_IMAGE), after.get(_VERSION)
    changed = (before.get(_IMAGE), before.get(_VERSION)) != (image_id, version)
    was_custom = before.get(_IMAGE) not in {None, DEFAULT_IMAGE}
    if changed and image_id not in {None, DEFAULT_IMAGE}:
        return image_id, version
    if changed and was_custom:
        return DEFAULT_IMAGE, version
    if changed and version is not None:
        return None, version
    # A release no longer asked for is kept: the nodes are not replaced for it.
    if everything and version is None and image_id in {None, DEFAULT_IMAGE}:
        return None, None
    return None


def _deployment(group: Group) -> Mapping[str, Any]:
    deployment: Mapping[str, Any] = (group.get("ScheduledUpdateConfig") or {}).get(
        "DeploymentConfig"
    ) or {}
    return deployment
