"""The EKS managed node groups of a cluster, at one moment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hyperpod_cli.aws.session import AwsSession, answer_of, listed
from hyperpod_shared.node_group_health import health_told


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagedNodeGroupState:
    """An EKS node group at one moment.

    Attributes:
        instance_types: Its types; none where its launch template alone names them.
        status: EKS's status of it, such as ACTIVE.
        issues: What is wrong with it, each with its next step.
    """

    name: str
    instance_types: Sequence[str]
    status: str
    minimum: int
    desired: int
    maximum: int
    issues: Mapping[str, str]


def node_groups_of(session: AwsSession, *, eks_cluster: str) -> list[ManagedNodeGroupState]:
    """Return the node groups of an EKS cluster by name, the deployment's and others."""
    return sorted(_states(session, eks_cluster), key=lambda group: group.name)


def _states(session: AwsSession, eks_cluster: str) -> Iterator[ManagedNodeGroupState]:
    eks = session.client("eks")
    for name in listed(eks, "list_nodegroups", "nodegroups", clusterName=eks_cluster):
        answer = answer_of(eks.describe_nodegroup, clusterName=eks_cluster, nodegroupName=name)
        if answer is None:  # deleted meanwhile
            continue
        group = answer["nodegroup"]
        size = group["scalingConfig"]
        yield ManagedNodeGroupState(
            name=name,
            instance_types=tuple(group.get("instanceTypes") or ()),
            status=group["status"],
            minimum=size["minSize"],
            desired=size["desiredSize"],
            maximum=size["maxSize"],
            issues=health_told(group),
        )
