"""Where the nodes of an EKS node group are."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.placement import Subnet, subnets_of
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig


def node_group_subnets(group: ManagedNodeGroupConfig, network: NetworkConfig) -> Iterator[Subnet]:
    """Yield the subnets that a group's nodes are in: with EFA or a placement group, one."""
    zone = group.availability_zone_id
    fitting = (
        each for each in subnets_of(network) if zone is None or each.availability_zone_id == zone
    )
    if not group.is_in_one_zone:
        yield from fitting
    elif (first := next(fitting, None)) is not None:
        yield first
