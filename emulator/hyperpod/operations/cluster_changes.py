"""Turns requests into the wanted state of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from emulator.hyperpod.simulation.cluster_lifecycle import GroupBefore
from emulator.hyperpod.simulation.identifiers import image_id
from emulator.hyperpod.simulation.state import Cluster, InstanceGroup
from emulator.hyperpod.validation.semantic_validation import groups_of

# Kept outside of Cluster.settings, or only meaningful in the request itself.
NOT_SETTINGS = frozenset(
    {
        "ClusterName",
        "InstanceGroups",
        "RestrictedInstanceGroups",
        "InstanceGroupsToDelete",
        "Tags",
    }
)


def settings_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cluster-wide members of a request."""
    return {name: value for name, value in request.items() if name not in NOT_SETTINGS}


def vpc_configs_of(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the VpcConfig structures of a request: the cluster's and those of groups."""
    configs = [request.get("VpcConfig"), *(g.get("OverrideVpcConfig") for g in groups_of(request))]
    return [config for config in configs if config]


def with_left_out_groups_to_delete(request: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    """Return an UpdateCluster request that asks to delete each group that it does not name."""
    named = {spec["InstanceGroupName"] for spec in groups_of(request)}
    left_out = [name for name, group in cluster.groups.items() if not group.deleting]
    to_delete = {*request.get("InstanceGroupsToDelete", ()), *left_out} - named
    return {**request, "InstanceGroupsToDelete": sorted(to_delete)}


def additional_instances(request: Mapping[str, Any], cluster: Cluster | None) -> Counter[str]:
    """Return how many more instances of each type a request asks for; fewer are negative."""
    more: Counter[str] = Counter()
    groups = cluster.groups if cluster else {}
    for spec in groups_of(request):
        before = groups.get(spec["InstanceGroupName"])
        wanted = InstanceGroup(
            spec=spec, target_count=spec["InstanceCount"], image_id="", image_release_version=""
        )
        more[wanted.instance_type] += wanted.target_count
        if before is not None:
            more[before.instance_type] -= before.target_count
    return more


def apply_groups(
    cluster: Cluster, request: Mapping[str, Any], *, release_version: str
) -> dict[str, GroupBefore]:
    """Set the groups of a request as wanted; groups that it does not name are not touched.

    Args:
        cluster: The cluster to change.
        request: A valid CreateCluster or UpdateCluster request.
        release_version: The latest HyperPod AMI release.

    Returns:
        The named groups as they were before.
    """
    restricted = {spec["InstanceGroupName"] for spec in request.get("RestrictedInstanceGroups", [])}
    before = {}
    for spec in groups_of(request):
        name = spec["InstanceGroupName"]
        group = cluster.groups.get(name)
        if group is None:
            before[name] = GroupBefore(spec=None, target_count=0)
            cluster.groups[name] = _new_group(
                cluster, spec, restricted=name in restricted, release_version=release_version
            )
        else:
            before[name] = GroupBefore(spec=group.spec, target_count=group.target_count)
            group.spec, group.target_count = spec, spec["InstanceCount"]
            group.epoch += 1
            if not cluster.continuous:
                group.status = "Updating"
    for name in request.get("InstanceGroupsToDelete", []):
        group = cluster.groups[name]
        group.status, group.deleting = "Deleting", True
    return before


def _new_group(
    cluster: Cluster, spec: Mapping[str, Any], *, restricted: bool, release_version: str
) -> InstanceGroup:
    version = spec.get("ImageReleaseVersion", release_version)
    image = spec.get("ImageId", "default")
    if image == "default":
        image = image_id(region=cluster.caller.region, release_version=version)
    return InstanceGroup(
        spec=spec,
        target_count=spec["InstanceCount"],
        image_id=image,
        image_release_version=version,
        restricted=restricted,
    )
