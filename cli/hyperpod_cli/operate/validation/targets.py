"""Which nodes are tested, and why the others are not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubernetes.client import ApiClient

from hyperpod_cdk.facts.job_resources import EFA, GPU, NEURON, JobResources, job_resources
from hyperpod_cli.operate.clusters import DescribedCluster
from hyperpod_cli.operate.nodes.health import (
    GROUP_LABEL,
    HEALTH_LABEL,
    NODE_GROUP_LABEL,
    SCHEDULABLE,
    device_pods,
    is_ready,
    labelled_nodes,
    labels_of,
    node_objects,
)
from hyperpod_cli.terminal.errors import OpsError

_DEVICES = (GPU, NEURON, EFA)
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
# The first is the layer farthest from the node:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-topology.html
_TOPOLOGY = [f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3)]


@dataclass(frozen=True, kw_only=True, slots=True)
class TestedNode:
    """A node.

    Attributes:
        offers: The devices that it offers to pods, by the name of the resource.
        place: The switches above it, the farthest first; nodes in this order stand next to those
            of the same switch.
        trouble: Why it cannot be tested; empty if it can.
    """

    name: str
    group: str
    instance_type: str
    resources: JobResources
    offers: Mapping[str, int]
    place: tuple[str, ...]
    trouble: str


def accelerated_groups(
    cluster: DescribedCluster | None,
    *,
    node_groups: Mapping[str, Sequence[str]],
    name: str,
    group: str | None,
) -> list[str]:
    """Return the groups whose nodes have accelerators; refuse one that is named and has none.

    `node_groups` has the instance types of EKS node groups. `name` is that of the cluster, or of a
    deployment without one.
    """
    described = {} if cluster is None else cluster.groups
    types = {key: [str(kind) for kind in _types(group)] for key, group in described.items()}
    types |= {key: [*names] for key, names in node_groups.items()}
    fitting = [key for key, kinds in types.items() if any(map(_has_accelerators, kinds))]
    known = ", ".join(fitting) or "none"
    if group is None:
        if not fitting:
            raise OpsError(f"{name}: no group has GPUs or Trainium, so there is nothing to test")
        return fitting
    if cluster is not None and group not in node_groups:
        cluster.group(group)
    if group not in fitting:
        has = ", ".join(types.get(group, ())) or "no nodes that are known"
        raise OpsError(
            f"--group: {group!r} has {has}, without GPUs or Trainium; name one with: {known}"
        )
    return [group]


def _types(described: Mapping[str, Any]) -> Sequence[str]:
    single = described.get("InstanceType")
    return (
        [single]
        if single
        else (described.get("InstanceRequirements") or {}).get("DesiredInstanceTypes", [])
    )


def _has_accelerators(instance_type: str) -> bool:
    resources = job_resources(instance_type)
    return resources is not None and resources.accelerators > 0


def targets(
    api: ApiClient,
    *,
    cluster: str | None,
    groups: Sequence[str],
    node_groups: Collection[str] = (),
    busy_too: bool,
) -> list[TestedNode]:
    """Return the nodes of groups that have accelerators, those of a switch next to each other.

    `node_groups` are those among them that are EKS node groups; `cluster` is None without a
    HyperPod cluster. Where pods use accelerators, nodes are tested with `busy_too`, when these end.
    """
    busy = {} if busy_too else _busy(api)
    listed = [] if cluster is None else [*node_objects(api, cluster=cluster)]
    if node_groups:
        listed += labelled_nodes(api, f"{NODE_GROUP_LABEL} in ({','.join(sorted(node_groups))})")
    nodes = [
        target
        for item in listed
        if _group_of(item) in groups and (target := _target(item, busy=busy)) is not None
    ]
    if not nodes:
        raise OpsError(
            f"{', '.join(groups)}: has no nodes in Kubernetes now; see `hyperpod-cdk status`, or "
            "`aws eks describe-nodegroup` of a node group, for what they wait for"
        )
    return sorted(nodes, key=lambda node: (node.instance_type, node.place, node.name))


def _group_of(item: Mapping[str, Any]) -> str:
    labels = labels_of(item)
    return labels.get(GROUP_LABEL) or labels.get(NODE_GROUP_LABEL, "")


def _target(item: Mapping[str, Any], *, busy: Mapping[str, str]) -> TestedNode | None:
    labels = labels_of(item)
    instance_type = labels.get(_INSTANCE_TYPE, "")
    resources = job_resources(instance_type) if _has_accelerators(instance_type) else None
    if resources is None:
        return None
    name = str(item["metadata"]["name"])
    allocatable = (item.get("status") or {}).get("allocatable") or {}
    health = labels.get(HEALTH_LABEL, SCHEDULABLE)
    trouble = busy.get(name, "")
    if health != SCHEDULABLE:
        trouble = f"HyperPod has it as {health}"
    elif not is_ready(item):
        trouble = "it is not Ready in Kubernetes"
    elif (item.get("spec") or {}).get("unschedulable"):
        trouble = "it is cordoned"
    return TestedNode(
        name=name,
        group=_group_of(item),
        instance_type=instance_type,
        resources=resources,
        offers={
            name: int(allocatable[name]) for name in _DEVICES if allocatable.get(name, "0") != "0"
        },
        place=tuple(labels.get(label, "") for label in _TOPOLOGY),
        trouble=trouble,
    )


def _busy(api: ApiClient) -> dict[str, str]:
    """Return the pods that use devices, in words, by the name of their node."""
    return {
        node: f"busy: {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
        for node, names in device_pods(api).items()
    }
