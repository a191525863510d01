"""Which nodes a command means: by group, group and number, type of Slurm node, or instance ID."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_cli.operate.clusters import ClusterNode, DescribedCluster
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.clusters import Group, node_type

_MOST_LISTED = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedNode:
    """A node, and its number.

    Attributes:
        number: Its place among the instances of its group by ID, from 1.
    """

    node: ClusterNode
    number: int

    def __str__(self) -> str:
        return f"{self.node.group}/{self.number} ({self.node.id})"


def numbered(nodes: Sequence[ClusterNode]) -> list[NumberedNode]:
    """Return nodes, all of a cluster by group and ID, with their numbers."""
    numbered, numbers = [], dict.fromkeys((node.group for node in nodes), 0)
    for node in nodes:
        numbers[node.group] += 1
        numbered.append(NumberedNode(node=node, number=numbers[node.group]))
    return numbered


def named_nodes(
    nodes: Sequence[ClusterNode], names: Sequence[str], *, cluster: DescribedCluster
) -> list[NumberedNode]:
    """Return the nodes that are meant, each once.

    A name is a group with one node, `<group>/<number>`, `controller` or `login` of Slurm, or an
    instance ID; one that fits no node, or several, is refused. `nodes` are all of the cluster, by
    group and ID.
    """
    known = numbered(nodes)
    chosen = (_named(known, name, cluster=cluster) for name in names)
    return list({node.node.id: node for node in chosen}.values())


def _named(known: Sequence[NumberedNode], name: str, *, cluster: DescribedCluster) -> NumberedNode:
    groups = cluster.groups
    fitting = [node for node in known if name in _names_of(node, groups.get(node.node.group, {}))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise OpsError(f"node: {name!r} has {len(fitting)} nodes: {_list(fitting)}; name one")
    group = name.partition("/")[0]
    if group in groups and all(node.node.group != group for node in known):
        raise OpsError(
            f"node: group {group!r} of {cluster.name} has no nodes now; see `hyperpod-cdk status` "
            f"and `hyperpod-cdk events --group {group}`"
        )
    if not known:
        raise OpsError(
            f"node: {name!r} is not in {cluster.name}, which has no nodes now; see `hyperpod-cdk "
            "status`"
        )
    near = [node for node in known if node.node.group == group] or known
    raise OpsError(f"node: {name!r} is not in {cluster.name}; it has {_list(near)}")


def _names_of(numbered: NumberedNode, group: Group) -> Iterator[str]:
    node = numbered.node
    role = node_type(group)
    for name in (node.group, *([role] if role else [])):
        yield name
        yield f"{name}/{numbered.number}"
    if node.id:
        yield from (node.id, node.kubernetes_name)


def _list(nodes: Sequence[NumberedNode]) -> str:
    listed = ", ".join(map(str, nodes[:_MOST_LISTED]))
    others = len(nodes) - _MOST_LISTED
    return f"{listed} and {others} more" if others > 0 else listed
