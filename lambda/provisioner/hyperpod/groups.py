"""Instance groups of a CreateCluster input or of a described cluster."""

import json
from collections.abc import Mapping
from typing import Any

from provisioner.hyperpod.statuses import GroupStatus

ClusterInput = Mapping[str, Any]
"""A CreateCluster input."""
Described = Mapping[str, Any]
"""DescribeCluster's answer."""
Group = Mapping[str, Any]
Groups = Mapping[str, Group]
"""Groups by name."""

NAME = "InstanceGroupName"
COUNT = "InstanceCount"
GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")
IMAGE_KEYS = frozenset({"ImageId", "ImageReleaseVersion"})
"""A group's AMI: it changes by UpdateClusterSoftware, not by UpdateCluster."""


def groups_of(cluster: Mapping[str, Any]) -> dict[str, Group]:
    """Return the groups of both lists by name."""
    return {group[NAME]: group for key in GROUP_LISTS for group in cluster.get(key) or ()}


def present_groups(described: Described) -> Groups:
    """Return the groups that are not being deleted, by name."""
    return {
        name: group
        for name, group in groups_of(described).items()
        if group.get("Status") != GroupStatus.DELETING
    }


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
