"""The nodes' subnets have addresses for all nodes and their pods."""

from collections.abc import Sequence

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import InstanceFacts
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.placement import HyperPodSubnet, subnet_for
from hyperpod_cdk.schema.errors import Findings, error

_MOST_GROUPS_LISTED = 3


def node_addresses(config: Config) -> Findings:
    """Find subnets that are too small for the groups whose nodes are there.

    A node takes all its addresses when it joins, whether it has pods or not, and a subnet cannot
    be resized. So does each interface endpoint of a closed network. Groups of types that no source
    describes are not counted.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """
    for subnet, groups in groups_in_subnets(config).items():
        if subnet.free_addresses is None:
            continue
        free = subnet.free_addresses - config.interface_endpoints
        if addresses_of(groups) > free:
            message = f"{too_small(groups, free=free)}; a subnet cannot be resized"
            yield error(subnet.path, subnet.cidr, message)


def groups_in_subnets(config: Config) -> dict[HyperPodSubnet, list[NodeGroupConfig]]:
    """Return the groups of known types whose nodes are in each HyperPod subnet."""
    groups_in: dict[HyperPodSubnet, list[NodeGroupConfig]] = {}
    for group in config.cluster.all_groups:
        subnet = subnet_for(group, config.network)
        if group.facts and subnet is not None:
            groups_in.setdefault(subnet, []).append(group)
    return groups_in


def addresses_of(groups: Sequence[NodeGroupConfig]) -> int:
    """Return how many addresses the nodes of groups take, at most."""
    return sum(group.instance_count * addresses_per_node(group) for group in groups)


def addresses_per_node(group: NodeGroupConfig) -> int:
    """Return how many addresses of its subnet a node of the group takes, at most.

    A node of a Slurm cluster has no pods: a P5 takes 32 addresses, not 81.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html

    An EFA-only interface has no address, so the further network cards take none.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-basics
    """
    return max((_addresses(facts, group) for facts in group.facts), default=0)


def _addresses(facts: InstanceFacts, group: NodeGroupConfig) -> int:
    if not isinstance(group, InstanceGroupConfig):
        return facts.addresses_per_node
    efa_only = group.network_interface_type == "efa-only"
    if group.slurm is not None:  # no pods: one for each network card
        return 1 if efa_only else facts.network_cards
    return facts.pod_addresses if efa_only else facts.addresses_per_node


def _largest_type(group: NodeGroupConfig) -> str:
    return max(group.facts, key=lambda facts: _addresses(facts, group)).instance_type


def too_small(groups: Sequence[NodeGroupConfig], *, free: int) -> str:
    """Return why a subnet has too few addresses for groups; reads on from what names it."""
    largest = sorted(groups, key=lambda g: -g.instance_count * addresses_per_node(g))
    shares = [
        f"{group.name} {group.instance_count} x {addresses_per_node(group)} "
        f"({free // addresses_per_node(group)} nodes of {_largest_type(group)} would fit alone)"
        for group in largest[:_MOST_GROUPS_LISTED]
    ]
    more = len(groups) - len(shares)
    others = f" and {more} more groups" if more else ""
    return (
        f"has {free} usable addresses for nodes and pods; the instance groups need "
        f"{addresses_of(groups)}: {', '.join(shares)}{others}"
    )
