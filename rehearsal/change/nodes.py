"""Which nodes a deployment ended, and what of an archive ends with them."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from emulator.aws.local_aws import AwsClients
from emulator.kubernetes.control_plane import ControlPlane
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.archive.archive import Archive
from hyperpod_cli.inspect.archive.deployment import ArchivedNode
from hyperpod_cli.inspect.archive.kubernetes_objects import NODE_GROUP_LABEL, managed_node
from hyperpod_cli.operate.clusters import ClusterNode, nodes_of
from hyperpod_cli.operate.nodes.health import labels_of
from hyperpod_shared.aws_errors import is_not_found
from hyperpod_shared.clusters import COUNT, GROUP_LISTS, NAME, groups_of

_LONGEST_SECONDS = 300.0
_PAUSE_SECONDS = 0.2
# The local AWS lets nodes come and go each half second.
_MANAGED_SECONDS = 1.5
_RUNNING = "Running"


@dataclass(frozen=True, kw_only=True, slots=True)
class EndingNodes:
    """Nodes of a group that end.

    Attributes:
        group: The group.
        ends: How many end.
        added: How many are there anew.
        nodes: Those of which they are, with the pods on them, as the archive has them.
        is_managed: Whether it is an EKS node group.
    """

    group: str
    ends: int
    added: int
    nodes: tuple[ArchivedNode, ...] = ()
    is_managed: bool = False

    @property
    def are_chosen(self) -> bool:
        """Whether AWS chooses which of the nodes end."""
        return self.ends < len(self.nodes)


def settled(clients: AwsClients, cluster: str) -> list[ClusterNode]:
    """Return the nodes of a cluster once no more come and go; none without a cluster."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    sagemaker = clients("sagemaker")
    while True:
        try:
            described = sagemaker.describe_cluster(ClusterName=cluster)
            nodes = nodes_of(sagemaker, cluster)
        except ClientError as error:
            if is_not_found(error):
                return []
            raise
        wanted = {name: int(each["TargetCount"]) for name, each in groups_of(described).items()}
        there = dict.fromkeys(wanted, 0)
        for node in nodes:
            there[node.group] = there.get(node.group, 0) + (node.status == _RUNNING)
        if (there == wanted and len(nodes) == sum(wanted.values())) or time.monotonic() > deadline:
            return nodes
        time.sleep(_PAUSE_SECONDS)


def managed(kubernetes: ControlPlane) -> list[ClusterNode]:
    """Return the nodes of EKS node groups once no more come and go."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    before: list[ClusterNode] | None = None
    while (found := _managed(kubernetes)) != before and time.monotonic() < deadline:
        before = found
        if found:
            time.sleep(_MANAGED_SECONDS)
    return found


def _managed(kubernetes: ControlPlane) -> list[ClusterNode]:
    found = sorted(
        managed_node(each)
        for each in kubernetes.objects("v1", "Node")
        if NODE_GROUP_LABEL in labels_of(each)
    )
    return [
        ClusterNode(id=name, group=group, instance_type=kind, status=status, message="")
        for name, group, kind, status in found
    ]


def set_counts(clients: AwsClients, kubernetes: ControlPlane, *, archive: Archive) -> Iterator[str]:
    """Give each group the nodes that it has; yield what differed from the templates.

    People and autoscalers scale groups without a deployment, and AWS may be short of instances.

    Args:
        clients: Clients of the local AWS.
        kubernetes: The control plane that nodes of EKS node groups join.
        archive: What is deployed.
    """
    yield from _set_counts(clients, archive)
    yield from _set_sizes(clients, kubernetes, archive)


def _set_counts(clients: AwsClients, archive: Archive) -> Iterator[str]:
    cluster = archive.deployment.cluster
    if cluster is None:
        return
    sagemaker, name = clients("sagemaker"), str(cluster["ClusterName"])
    described = sagemaker.describe_cluster(ClusterName=name)
    there = groups_of(described)
    wanted = {
        group: int(each["TargetCount"])
        for group, each in groups_of(cluster).items()
        if group in there and int(there[group]["TargetCount"]) != int(each["TargetCount"])
    }
    if not wanted:
        return
    for group, count in wanted.items():
        yield f"group {group} has {count} nodes, not {there[group]['TargetCount']}"
    shapes = sagemaker.meta.service_model.operation_model("UpdateCluster").input_shape.members
    asked: dict[str, Any] = {"ClusterName": name}
    for key in GROUP_LISTS:
        if described.get(key):
            members = shapes[key].member.members
            asked[key] = [
                {
                    **{member: value for member, value in each.items() if member in members},
                    COUNT: wanted.get(each[NAME], each["TargetCount"]),
                }
                for each in described[key]
            ]
    sagemaker.update_cluster(**asked)


def _set_sizes(clients: AwsClients, kubernetes: ControlPlane, archive: Archive) -> Iterator[str]:
    sizes: dict[str, int] = {}
    for group in archive.deployment.node_groups:
        name, scaling = group["nodegroupName"], group["scalingConfig"]
        asked = {"clusterName": group["clusterName"], "nodegroupName": name}
        found = answer_of(clients("eks").describe_nodegroup, **asked)
        if found is None:  # others have made it, so it is not here
            continue
        sizes[name], former = scaling["desiredSize"], found["nodegroup"]["scalingConfig"]
        if former != scaling:
            clients("eks").update_nodegroup_config(**asked, scalingConfig=scaling)
        if former["desiredSize"] != sizes[name]:
            yield f"node group {name} has size {sizes[name]}, not {former['desiredSize']}"
        there = sum(each.group == name for each in archive.deployment.nodes)
        if there != sizes[name]:
            yield f"node group {name} has {there} nodes, and {sizes[name]} here, its size"
    deadline = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < deadline:
        nodes = Counter(each.group for each in _managed(kubernetes))
        if all(nodes[name] == size for name, size in sizes.items()):
            return
        time.sleep(_PAUSE_SECONDS)


def ending(
    before: list[ClusterNode], after: list[ClusterNode], *, archive: Archive
) -> list[EndingNodes]:
    """Return the groups whose nodes are others than before.

    Args:
        before: The nodes before the deployment.
        after: Those after it.
        archive: What is deployed, whose nodes are meant.
    """
    was, now = _by_group(before), _by_group(after)
    managed_groups = {each["nodegroupName"] for each in archive.deployment.node_groups}
    found = []
    for group in sorted(was.keys() | now.keys()):
        left, come = was.get(group, set()), now.get(group, set())
        if left != come:
            nodes = [node for node in archive.deployment.nodes if node.group == group]
            ends = len(left - come)
            found.append(
                EndingNodes(
                    group=group,
                    ends=ends,
                    added=len(come - left),
                    nodes=tuple(nodes) if ends else (),
                    is_managed=group in managed_groups,
                )
            )
    return found


def _by_group(nodes: list[ClusterNode]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in nodes:
        found.setdefault(node.group, set()).add(node.id)
    return found
