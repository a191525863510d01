"""A cluster at one moment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.aws.kubernetes_api import described_eks_cluster
from hyperpod_cli.operate.clusters import (
    Chosen,
    ClusterNode,
    DescribedCluster,
    nodes_of,
)
from hyperpod_cli.operate.events.faults import Level, is_scaling_warning
from hyperpod_cli.operate.events.history import ClusterEvent, each_kind, events_of
from hyperpod_cli.operate.node_groups import ManagedNodeGroupState, node_groups_of
from hyperpod_cli.operate.nodes.health import ABSENT, RUNNING, Health, trouble_of
from hyperpod_cli.operate.nodes.named import numbered
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.console import in_utc
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import is_denied
from hyperpod_shared.clusters import (
    Group,
    NodeStatus,
    awaits_plan,
    is_updated,
    node_type,
    partitions_of,
)

_RECENT = timedelta(hours=1)
_MOST_EVENTS = 5
_IN_PROGRESS = "InProgress"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeState:
    """A node at one moment.

    Attributes:
        launched: When its instance was launched, in UTC; empty while SageMaker does not say.
        health: HyperPod's label of its health; empty while it is not known.
        deep_health_check: InProgress, Passed, Failed, or empty.
        trouble: Why it does not work; empty if it works.
    """

    group: str
    number: int
    id: str
    instance_type: str
    launched: str
    status: str
    health: str
    deep_health_check: str
    trouble: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedNode:
    """A node that has no instance yet, at one moment.

    Attributes:
        id: What SageMaker calls it until it has one.
        trouble: Its status, and what SageMaker adds to it.
    """

    group: str
    id: str
    trouble: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupState:
    """An instance group at one moment.

    Attributes:
        status: Its status, and whether its AMI is being changed or it waits for a training plan.
        running: How many nodes SageMaker lists as Running.
        healthy: How many nodes work; None while their health is not known.
        deep_health_checks: How many nodes have which result; empty for a group without.
        role: What its nodes are in Slurm: controller, login, or their partition; or empty.
    """

    name: str
    instance_type: str
    status: str
    current: int
    target: int
    running: int
    healthy: int | None
    deep_health_checks: Mapping[str, int]
    role: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A cluster at one moment.

    Attributes:
        cluster: Its name; that of the EKS cluster for `cluster: null`.
        notes: What else is to be said, such as why health is not known.
        requested: Nodes that have no instance yet; SageMaker lists those of clusters with
            continuous provisioning alone.
        events: The newest warning or error of each kind of the last hour.
        node_groups: The EKS node groups in addition to its groups.
    """

    cluster: str
    region: str
    status: str
    time: str
    notes: Sequence[str]
    groups: Sequence[GroupState] = ()
    nodes: Sequence[NodeState] = ()
    requested: Sequence[RequestedNode] = ()
    events: Sequence[ClusterEvent] = ()
    node_groups: Sequence[ManagedNodeGroupState] = ()


def snapshot(chosen: Chosen, *, now: datetime, causes: dict[str, str] | None = None) -> Snapshot:
    """Look at a cluster.

    That events may not be listed, or nothing is known of EKS node groups, is a note. `causes` has
    causes of events from earlier looks, by ID; those found are added.
    """
    if chosen.config is not None and not chosen.config.cluster.exists:
        return _of_node_groups(chosen, eks_cluster=chosen.config.eks_cluster_name, now=now)
    cluster = chosen.cluster()
    listed = nodes_of(chosen.sagemaker, cluster.name, requested=cluster.is_continuous)
    nodes = [node for node in listed if node.id]
    failed = cluster.described.get("FailureMessage")
    orchestrator = orchestrator_of(cluster)
    notes = [*([str(failed)] if failed else []), *orchestrator.remarks()]
    health: Mapping[str, Health] | None = None
    try:
        health = orchestrator.health(chosen.session, nodes)
    except (OpsError, BotoCoreError, ClientError) as error:
        notes.append(f"Health is not known. {explanation(error)}")
    states = node_states(cluster, nodes, health=health)
    troubled = any(state.trouble for state in states)
    events: list[ClusterEvent] = []
    try:
        events = events_of(
            chosen.sagemaker, cluster, since=now - _RECENT, least=Level.WARN, causes=causes
        )
    except ClientError as error:
        if not is_denied(error):
            raise
        notes.append(f"Events are not known. {explanation(error)}")
    node_groups: Sequence[ManagedNodeGroupState] = ()
    try:
        node_groups = orchestrator.node_groups(chosen.session)
    except (BotoCoreError, ClientError) as error:
        notes.append(f"EKS node groups are not known. {explanation(error)}")
    # What was warned of while a cluster was scaled is over once every node works.
    events = [event for event in events if troubled or not is_scaling_warning(event.description)]
    return Snapshot(
        cluster=cluster.name,
        region=chosen.session.region,
        status=cluster.status,
        time=in_utc(now),
        notes=notes,
        groups=[
            group_state(name, group, states, is_known=health is not None)
            for name, group in cluster.groups.items()
        ],
        nodes=states,
        requested=[
            RequestedNode(
                group=node.group, id=node.logical_id, trouble=trouble_of(node, None, recovers=True)
            )
            for node in listed
            if not node.id
        ],
        events=each_kind(events)[:_MOST_EVENTS],
        node_groups=node_groups,
    )


def _of_node_groups(chosen: Chosen, *, eks_cluster: str, now: datetime) -> Snapshot:
    return Snapshot(
        cluster=eks_cluster,
        region=chosen.session.region,
        status=described_eks_cluster(chosen.session, eks_cluster)["status"],
        time=in_utc(now),
        notes=["cluster: is null, so there is no HyperPod cluster."],
        node_groups=node_groups_of(chosen.session, eks_cluster=eks_cluster),
    )


def node_states(
    cluster: DescribedCluster, nodes: Sequence[ClusterNode], *, health: Mapping[str, Health] | None
) -> list[NodeState]:
    """Return how each node is."""
    recovers = cluster.described.get("NodeRecovery") != "None"
    states = [
        _node_state(node.node, node.number, health=health, recovers=recovers)
        for node in numbered(nodes)
    ]
    order = [name for name, group in cluster.groups.items() if node_type(group)]
    return sorted(states, key=lambda state: order.index(state.group) if order else 0)


def _node_state(
    node: ClusterNode, number: int, *, health: Mapping[str, Health] | None, recovers: bool
) -> NodeState:
    state = None if health is None else health.get(node.kubernetes_name)
    trouble = trouble_of(node, state, recovers=recovers)
    if health is not None and state is None and not trouble:
        trouble = ABSENT
    checked = state.deep_health_check if state else ""
    if node.status == NodeStatus.DEEP_HEALTH_CHECK:
        checked = _IN_PROGRESS
    return NodeState(
        group=node.group,
        number=number,
        id=node.id,
        instance_type=node.instance_type,
        launched="" if node.launched is None else in_utc(node.launched),
        status=node.status,
        health=state.status if state else "",
        deep_health_check=checked,
        trouble=trouble,
    )


def group_state(
    name: str, group: Group, states: Sequence[NodeState], *, is_known: bool
) -> GroupState:
    """Return how a group is."""
    nodes = [node for node in states if node.group == name]
    types = (group.get("InstanceRequirements") or {}).get("CurrentInstanceTypes") or ()
    status = str(group.get("Status", ""))
    if is_updated(group):
        status += ", getting its AMI"
    if awaits_plan(group):
        status += ", waits for its training plan"
    return GroupState(
        name=name,
        instance_type=str(group.get("InstanceType") or ", ".join(types)),
        status=status,
        current=int(group.get("CurrentCount", 0)),
        target=int(group.get("TargetCount", 0)),
        running=sum(node.status == RUNNING for node in nodes),
        healthy=sum(not node.trouble for node in nodes) if is_known else None,
        deep_health_checks=dict(
            Counter(node.deep_health_check for node in nodes if node.deep_health_check)
        ),
        role=", ".join(partitions_of(group)) or node_type(group),
    )
