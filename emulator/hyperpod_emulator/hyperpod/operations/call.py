"""What operations work with: the call, and how clusters and nodes are described."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from botocore.model import ListShape, StructureShape

from hyperpod_emulator.hyperpod.service_model import output_shape, project, service_model
from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import ClusterLifecycle
from hyperpod_emulator.hyperpod.simulation.errors import validation_error
from hyperpod_emulator.hyperpod.simulation.faults import FaultGate
from hyperpod_emulator.hyperpod.simulation.hooks import Caller
from hyperpod_emulator.hyperpod.simulation.nodes import private_dns
from hyperpod_emulator.hyperpod.simulation.state import (
    Cluster,
    ClusterRegistry,
    InstanceGroup,
    Node,
)
from hyperpod_emulator.hyperpod.simulation.surroundings import Surroundings

Answer = dict[str, Any]
Item = TypeVar("Item")
# Of a request without MaxResults. For clusters and nodes, AWS does not say how many that are; for
# most of its other lists, 10, such as
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListEndpoints.html
DEFAULT_PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Call:
    """One valid call: the request, who makes it and when (epoch seconds)."""

    request: Mapping[str, Any]
    caller: Caller
    now: float


@dataclass(frozen=True, slots=True)
class Backend:
    """What operations work with."""

    registry: ClusterRegistry
    lifecycle: ClusterLifecycle
    surroundings: Surroundings
    release_version: str

    @property
    def faults(self) -> FaultGate:
        """What goes wrong."""
        return self.surroundings.faults

    def cluster_of(self, call: Call) -> Cluster:
        """Return the cluster of the same account and Region that a call names, or refuse it."""
        return self.registry.find(call.request["ClusterName"], call.caller)


Handler = Callable[[Backend, Call], Answer]


def page(
    items: Sequence[Item], request: Mapping[str, Any]
) -> tuple[Sequence[Item], dict[str, str]]:
    """Return the page that a request asks for, and the NextToken member if there is more.

    A token that this API did not give is a ValidationException.
    """
    start = _offset(request.get("NextToken"))
    end = start + request.get("MaxResults", DEFAULT_PAGE_SIZE)
    more = {"NextToken": _token(end)} if end < len(items) else {}
    return items[start:end], more


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def _offset(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError):
        message = f"NextToken '{token}' is not one that this operation returned."
        raise validation_error(message) from None


# Members whose shape differs between a request and a response.
REWRITTEN = frozenset({"InstanceRequirements", "KubernetesConfig", "AutoPatchConfig"})
COPIED_FROM_GROUP = (
    "LifeCycleConfig",
    "OverrideVpcConfig",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "NetworkInterface",
)


def describe_cluster(
    cluster: Cluster, *, counted: Literal["running", "launched"], plans: Mapping[str, str]
) -> dict[str, Any]:
    """Return the DescribeCluster response; plans have their status by their ARN."""
    groups = list(cluster.groups.values())
    answer = {
        **project(output_shape("DescribeCluster"), cluster.settings),
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": cluster.created_at,
        "InstanceGroups": [_describe_group(g, counted, plans) for g in groups if not g.restricted],
    }
    restricted = [_describe_group(group, counted, plans) for group in groups if group.restricted]
    if restricted:
        answer["RestrictedInstanceGroups"] = restricted
    if "AutoScaling" in cluster.settings:
        is_on = cluster.settings["AutoScaling"]["Mode"] == "Enable"
        status = "Creating" if is_on and not cluster.autoscaling else "InService"
        answer["AutoScaling"] = {**cluster.settings["AutoScaling"], "Status": status}
    if cluster.failure_message:
        answer["FailureMessage"] = cluster.failure_message
    return answer


def summarize_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return the cluster's entry in ListClusters."""
    summary = {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "CreationTime": cluster.created_at,
        "ClusterStatus": cluster.status,
    }
    plans = training_plans_of(cluster)
    return {**summary, "TrainingPlanArns": plans} if plans else summary


def training_plans_of(cluster: Cluster) -> list[str]:
    """Return the ARNs of the training plans that the cluster's groups use."""
    plans = (group.spec.get("TrainingPlanArn") for group in cluster.groups.values())
    return sorted({plan for plan in plans if plan})


def _describe_group(
    group: InstanceGroup, counted: Literal["running", "launched"], plans: Mapping[str, str]
) -> dict[str, Any]:
    spec = {name: value for name, value in group.spec.items() if name not in REWRITTEN}
    details = {
        **project(_details_shape(restricted=group.restricted), spec),
        "CurrentCount": group.current_count if counted == "running" else group.launched_count,
        "TargetCount": 0 if group.deleting else group.target_count,
        "Status": group.status,
    }
    plan = str(group.spec.get("TrainingPlanArn"))
    if plan in plans:
        details["TrainingPlanStatus"] = plans[plan]
    if group.restricted:
        return details
    details |= {
        "CurrentImageId": group.image_id,
        "DesiredImageId": group.image_id,
        "CurrentImageReleaseVersion": group.image_release_version,
        "DesiredImageReleaseVersion": group.image_release_version,
        "ImageVersionStatus": "UpToDate",
        **_rewritten(group),
    }
    if not group.settled:
        details["ActiveOperations"] = {"Scaling": 1}
    if group.software_update_status:
        details["SoftwareUpdateStatus"] = group.software_update_status
    return details


def _rewritten(group: InstanceGroup) -> dict[str, Any]:
    spec, answer = group.spec, {}
    if "MinInstanceCount" in spec:
        answer["MinCount"] = spec["MinInstanceCount"]
    if "InstanceRequirements" in spec:
        types = spec["InstanceRequirements"]["InstanceTypes"]
        answer["InstanceRequirements"] = {
            "CurrentInstanceTypes": types,
            "DesiredInstanceTypes": types,
        }
        counts = Counter(node.instance_type for node in group.nodes if node.joined)
        answer["InstanceTypeDetails"] = [
            {"InstanceType": name, "CurrentCount": counts[name]} for name in types
        ]
    if "KubernetesConfig" in spec:
        answer["KubernetesConfig"] = describe_kubernetes_config(spec["KubernetesConfig"])
    if "AutoPatchConfig" in spec:
        patching = dict(spec["AutoPatchConfig"])
        schedule = patching.pop("PatchSchedule", None)
        if schedule:
            patching["CurrentPatchSchedule"] = patching["DesiredPatchSchedule"] = schedule
        answer["AutoPatchConfig"] = patching
    return answer


def describe_kubernetes_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return labels and taints as current and desired; the emulator applies them at once."""
    return {
        f"{state}{name}": value
        for name, value in config.items()
        for state in ("Current", "Desired")
    }


def _details_shape(*, restricted: bool) -> StructureShape:
    name = "RestrictedInstanceGroups" if restricted else "InstanceGroups"
    groups = service_model().shape_for("DescribeClusterResponse")
    if isinstance(groups, StructureShape):
        listed = groups.members[name]
        if isinstance(listed, ListShape) and isinstance(listed.member, StructureShape):
            return listed.member
    message = f"DescribeClusterResponse.{name} is not a list of structures"
    raise TypeError(message)


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
