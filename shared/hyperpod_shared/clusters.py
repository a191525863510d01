"""A HyperPod cluster as AWS describes it: statuses, instance groups, its log.

The statuses are those that decide something, spelled as in botocore's model of SageMaker. A cluster
in any other status counts as busy.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

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
SLURM, NODE_TYPE = "SlurmConfig", "NodeType"
NODE_TYPES = CONTROLLER, LOGIN, COMPUTE = ("controller", "login", "compute")
"""What nodes are in Slurm: the controller, which the others wait for, is first."""

CONTINUOUS = "Continuous"
"""The provisioning mode in which nodes come and go one by one."""
CLUSTER_LABEL = "sagemaker.amazonaws.com/cluster-name"
"""HyperPod's label on its Nodes."""
CLUSTER_EVENT = "SageMaker HyperPod Cluster Event"
STATE_CHANGE = "SageMaker HyperPod Cluster State Change"
NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
"""What its events on EventBridge are called, their `detail-type`.

https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""
_LOG_GROUP = "/aws/sagemaker/Clusters"


class ClusterStatus(StrEnum):
    """DescribeCluster's ClusterStatus."""

    CREATING = "Creating"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"


class GroupStatus(StrEnum):
    """The Status of an instance group."""

    DELETING = "Deleting"
    FAILED = "Failed"


class NodeStatus(StrEnum):
    """The Status of a node, but for those in which it works."""

    DEEP_HEALTH_CHECK = "DeepHealthCheckInProgress"
    FAILURE = "Failure"
    NOT_FOUND = "NotFound"
    PENDING = "Pending"
    SHUTTING_DOWN = "ShuttingDown"


class SoftwareUpdateStatus(StrEnum):
    """The SoftwareUpdateStatus of an instance group."""

    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    ROLLBACK_IN_PROGRESS = "RollbackInProgress"
    ROLLBACK_COMPLETE = "RollbackComplete"


SOFTWARE_FAILED = frozenset(
    {
        SoftwareUpdateStatus.FAILED,
        SoftwareUpdateStatus.ROLLBACK_IN_PROGRESS,
        SoftwareUpdateStatus.ROLLBACK_COMPLETE,
    }
)
"""Of an update of AMIs that HyperPod has taken back, or is taking back."""


SETTLED = frozenset({ClusterStatus.IN_SERVICE, ClusterStatus.FAILED})
"""The statuses in which HyperPod accepts UpdateCluster and DeleteCluster."""
_SOFTWARE_BUSY = frozenset({SoftwareUpdateStatus.PENDING, SoftwareUpdateStatus.IN_PROGRESS})


_PLACES = {kind: place for place, kind in enumerate(NODE_TYPES)}


def groups_of(cluster: Mapping[str, Any]) -> dict[str, Group]:
    """Return the groups of both lists by name; those of Slurm in the order of `NODE_TYPES`."""
    groups = [group for key in GROUP_LISTS for group in cluster.get(key) or ()]
    if any(SLURM in group for group in groups):
        groups.sort(key=lambda group: _PLACES.get(node_type(group), 0))
    return {group[NAME]: group for group in groups}


def node_type(group: Group) -> str:
    """Return what the nodes of a group are in Slurm, one of `NODE_TYPES`; empty without Slurm."""
    return str((group.get(SLURM) or {}).get(NODE_TYPE) or "").lower()


def partitions_of(group: Group) -> Sequence[str]:
    """Return the names of the partitions of Slurm that a group is in, but for `dev`."""
    return (group.get(SLURM) or {}).get("PartitionNames") or ()


def leads(group: Group) -> bool:
    """Say whether no node of another group joins before the group's: Slurm's controller.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
    """
    return node_type(group) == CONTROLLER


def types_of(group: Group) -> list[str]:
    """Return the instance types that a request lets a group have."""
    several = (group.get("InstanceRequirements") or {}).get("InstanceTypes") or ()
    return [str(group["InstanceType"])] if group.get("InstanceType") else [*map(str, several)]


def present_groups(described: Described) -> Groups:
    """Return the groups that are not being deleted, by name."""
    return {
        name: group
        for name, group in groups_of(described).items()
        if group.get("Status") != GroupStatus.DELETING
    }


def awaits_plan(group: Group) -> bool:
    """Say whether a group has no nodes before its training plan begins.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
    """
    return group.get("TrainingPlanStatus") == "Scheduled"


def nodes_needed(group: Group) -> int:
    """Return with how many nodes a group is complete: the least that was asked for, or all."""
    target: int = 0 if awaits_plan(group) else group.get("TargetCount", 0)
    return min(group.get("MinCount") or target, target)


def updated_groups(described: Described) -> list[str]:
    """Return which groups are getting another AMI, as short texts."""
    groups = groups_of(described).items()
    return [f"group {name} is getting its AMI" for name, group in groups if is_updated(group)]


def is_updated(group: Group) -> bool:
    """Say whether a group is getting another AMI."""
    return group.get("SoftwareUpdateStatus") in _SOFTWARE_BUSY


def log_group(described: Described) -> str:
    """Return the name of the log group of a cluster's nodes."""
    cluster_id = str(described.get("ClusterArn", "")).rpartition("/")[2]
    return f"{_LOG_GROUP}/{described.get('ClusterName', '')}/{cluster_id}"


def log_stream(*, group: str, instance: str) -> str:
    """Return the name of the log stream of a node's lifecycle scripts."""
    return f"LifecycleConfig/{group}/{instance}"
