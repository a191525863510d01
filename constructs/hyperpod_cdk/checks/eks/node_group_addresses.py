"""The nodes' subnets have addresses for the nodes of node groups and their pods."""

from collections.abc import Iterator

from hyperpod_cdk.checks.node_addresses import addresses_of, groups_in_subnets
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.placement import HyperPodSubnet, subnets_of
from hyperpod_cdk.node_groups.section import node_group_subnets
from hyperpod_cdk.schema.errors import Finding, error


def node_group_addresses(config: Config) -> Iterator[Finding]:
    """Find subnets that are too small for HyperPod's nodes and the largest size of groups.

    The VPC CNI takes a node's first addresses, and as many that it keeps ready, when it joins.

    https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
    """
    services = config.interface_endpoints
    of_hyperpod = groups_in_subnets(config)
    for subnet in subnets_of(config.network):
        if subnet.free_addresses is None:
            continue
        shares = dict(_shares(config, subnet))
        free = subnet.free_addresses - services - addresses_of(of_hyperpod.get(subnet, []))
        if shares and sum(shares.values()) > free:
            listed = ", ".join(f"{name} {needed}" for name, needed in shares.items())
            yield error(
                subnet.path,
                subnet.cidr,
                f"has {max(free, 0)} addresses left for node groups and their pods, which need "
                f"{sum(shares.values())} at max_size: {listed}; a subnet cannot be resized",
            )


def _shares(config: Config, subnet: HyperPodSubnet) -> Iterator[tuple[str, int]]:
    for group in config.node_groups:
        subnets = [*node_group_subnets(group, config.network)]
        if subnet in subnets:
            each = max((facts.addresses_per_node for facts in group.facts), default=0)
            yield group.name, -(-group.most_nodes // len(subnets)) * each
