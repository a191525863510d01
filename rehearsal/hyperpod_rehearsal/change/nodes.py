"""Which nodes a deployment ended, and what of an archive ends with them."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.inspect.archive.archive import Archive
from hyperpod_cli.inspect.archive.deployment import ArchivedNode
from hyperpod_cli.inspect.archive.kubernetes_objects import managed_node
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, labels_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_rehearsal.verification import cluster_nodes, comes_true
from hyperpod_shared.cluster_changes import requested_value
from hyperpod_shared.clusters import (
    COUNT,
    GROUP_LISTS,
    NAME,
    Described,
    awaits_plan,
    groups_of,
)

_LONGEST_SECONDS = 300.0
# The local AWS lets nodes come and go each half second.
_MANAGED_SECONDS = 1.5
_RUNNING = "Running"


@dataclass(frozen=True, kw_only=True, slots=True)
class EndingNodes:
    """Nodes of a group that end, and how many are there anew.

    The nodes are those of which they are, with the pods on them, as the archive has them.
    """

    group: str
    ends: int
    added: int
    nodes: tuple[ArchivedNode, ...] = ()
    is_managed: bool

    @property
    def are_chosen(self) -> bool:
        """Whether AWS chooses which of the nodes end."""
        return self.ends < len(self.nodes)


def settled(clients: AwsClients, cluster: str) -> list[ClusterNode]:
    """Return the nodes of a cluster once no more come and go; none without a cluster."""
    sagemaker = clients("sagemaker")

    def is_settled() -> bool:
        described = answer_of(sagemaker.describe_cluster, ClusterName=cluster) or {}
        wanted = {
            name: 0 if awaits_plan(group) else int(group["TargetCount"])
            for name, group in groups_of(described).items()
        }
        nodes = Counter((node.group, node.status) for node in cluster_nodes(clients, cluster))
        return nodes == Counter({(name, _RUNNING): count for name, count in wanted.items()})

    comes_true(is_settled)
    return cluster_nodes(clients, cluster)


def managed(kubernetes: KubernetesApi) -> list[ClusterNode]:
    """Return the nodes of EKS node groups once no more come and go."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    before: list[ClusterNode] | None = None
    while (nodes := _managed(kubernetes)) != before and time.monotonic() < deadline:
        before = nodes
        if nodes:
            time.sleep(_MANAGED_SECONDS)
    return nodes


def _managed(kubernetes: KubernetesApi) -> list[ClusterNode]:
    nodes = (
        managed_node(item)
        for item in kubernetes.objects("v1", "Node")
        if NODE_GROUP_LABEL in labels_of(item)
    )
    return [
        ClusterNode(**node.model_dump(exclude={"pods"}), message="")
        for node in sorted(nodes, key=lambda node: node.id)
    ]


def set_counts(
    clients: AwsClients, kubernetes: KubernetesApi, *, archive: Archive
) -> Iterator[str]:
    """Give each group the nodes that it has; yield what differed from the templates.

    People and autoscalers scale groups without a deployment, and AWS may be short of instances.
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
        group: int(state["TargetCount"])
        for group, state in groups_of(cluster).items()
        if group in there and int(there[group]["TargetCount"]) != int(state["TargetCount"])
    }
    if not wanted:
        return
    for group, count in wanted.items():
        yield f"group {group} has {count} nodes, not {there[group]['TargetCount']}"
    scale(sagemaker, described, wanted)


def scale(sagemaker: AwsClient, described: Described, counts: Mapping[str, int]) -> None:
    """Ask for other numbers of nodes in groups of a cluster, as people do."""
    shapes = sagemaker.meta.service_model.operation_model("UpdateCluster").input_shape.members
    asked: dict[str, Any] = {"ClusterName": described["ClusterName"]}
    for key in GROUP_LISTS:
        if described.get(key):
            members = shapes[key].member.members
            asked[key] = [
                {
                    **{
                        member: requested_value(value)
                        for member, value in group.items()
                        if member in members
                    },
                    COUNT: counts.get(group[NAME], group["TargetCount"]),
                }
                for group in described[key]
            ]
    sagemaker.update_cluster(**asked)


def _set_sizes(clients: AwsClients, kubernetes: KubernetesApi, archive: Archive) -> Iterator[str]:
    sizes: dict[str, int] = {}
    for group in archive.deployment.node_groups:
        name, scaling = group["nodegroupName"], group["scalingConfig"]
        asked = {"clusterName": group["clusterName"], "nodegroupName": name}
        answer = answer_of(clients("eks").describe_nodegroup, **asked)
        if answer is None:  # others have made it, so it is not here
            continue
        sizes[name], former = scaling["desiredSize"], answer["nodegroup"]["scalingConfig"]
        if former != scaling:
            clients("eks").update_nodegroup_config(**asked, scalingConfig=scaling)
        if former["desiredSize"] != sizes[name]:
            yield f"node group {name} has size {sizes[name]}, not {former['desiredSize']}"
        there = sum(node.group == name for node in archive.deployment.nodes)
        if there != sizes[name]:
            yield f"node group {name} has {there} nodes, and {sizes[name]} here, its size"

    def are_there() -> bool:
        nodes = Counter(node.group for node in _managed(kubernetes))
        return all(nodes[name] == size for name, size in sizes.items())

    comes_true(are_there)


def ending(
    before: list[ClusterNode], after: list[ClusterNode], *, archive: Archive
) -> list[EndingNodes]:
    """Return the groups of an archive whose nodes are others than before the deployment."""
    was, now = ({(node.group, node.id) for node in nodes} for nodes in (before, after))
    ends, added = (Counter(group for group, _ in nodes) for nodes in (was - now, now - was))
    managed_groups = {state["nodegroupName"] for state in archive.deployment.node_groups}
    return [
        EndingNodes(
            group=group,
            ends=ends[group],
            added=added[group],
            nodes=tuple(
                node for node in archive.deployment.nodes if ends[group] and node.group == group
            ),
            is_managed=group in managed_groups,
        )
        for group in sorted(ends | added)
    ]
