"""Nodes as ListClusterNodes and DescribeClusterNode answer them."""

from __future__ import annotations

from typing import Any

from rehearsal.hyperpod.describe import describe_kubernetes_config
from rehearsal.hyperpod.state import Cluster, Node
from rehearsal.hyperpod.views import private_dns

COPIED_FROM_GROUP = (
    "LifeCycleConfig",
    "OverrideVpcConfig",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "NetworkInterface",
)


def summarize_node(cluster: Cluster, node: Node, *, with_logical_id: bool) -> dict[str, Any]:
    """Return a node's entry in ListClusterNodes."""
    summary = {
        "InstanceGroupName": node.group_name,
        # Both are required by the model, also of a node that has no instance yet.
        "InstanceId": node.instance_id or "",
        "LaunchTime": creation_time(node),
        **_common(cluster, node),
    }
    return {**summary, "NodeLogicalId": node.logical_id} if with_logical_id else summary


def describe_node(cluster: Cluster, node: Node) -> dict[str, Any]:
    """Return a node's details for DescribeClusterNode."""
    spec = cluster.groups[node.group_name].spec
    details: dict[str, Any] = {
        "InstanceGroupName": node.group_name,
        "NodeLogicalId": node.logical_id,
        **{name: spec[name] for name in COPIED_FROM_GROUP if name in spec},
        **_common(cluster, node),
        "CapacityType": "Spot" if "Spot" in spec.get("CapacityRequirements", {}) else "OnDemand",
    }
    if node.instance_id is not None:
        details |= {
            "InstanceId": node.instance_id,
            "LaunchTime": node.launch_time,
            "PrivatePrimaryIp": node.private_ip,
            "CurrentImageId": cluster.groups[node.group_name].image_id,
            "DesiredImageId": cluster.groups[node.group_name].image_id,
            "DesiredImageReleaseVersion": node.image_release_version,
        }
    if "KubernetesConfig" in spec:
        details["KubernetesConfig"] = describe_kubernetes_config(spec["KubernetesConfig"])
    placement = {
        "AvailabilityZone": node.subnet.availability_zone,
        "AvailabilityZoneId": node.subnet.availability_zone_id,
    }
    if any(placement.values()):
        details["Placement"] = {name: value for name, value in placement.items() if value}
    return details


def creation_time(node: Node) -> float:
    """Return when the node was launched, or requested if it has no instance yet."""
    return node.requested_at if node.launch_time is None else node.launch_time


def _common(cluster: Cluster, node: Node) -> dict[str, Any]:
    status = {"Status": node.status}
    if node.message:
        status["Message"] = node.message
    common: dict[str, Any] = {"InstanceType": node.instance_type, "InstanceStatus": status}
    if node.software_updated_at is not None:
        common["LastSoftwareUpdateTime"] = node.software_updated_at
    if node.private_ip is not None:
        common |= {
            "PrivateDnsHostname": private_dns(
                private_ip=node.private_ip, region=cluster.caller.region
            ),
            "CurrentImageReleaseVersion": node.image_release_version,
            "ImageVersionStatus": "UpToDate",
        }
    return common
