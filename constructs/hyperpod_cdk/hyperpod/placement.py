"""Where the nodes of a group are: the subnets, and the one that is a group's."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import KeyPath

# AWS keeps the first four addresses and the last one of every subnet.
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
_RESERVED_ADDRESSES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodSubnet:
    """A subnet.

    Attributes:
        index: Its place among the HyperPod subnets.
        cidr: The block; None of a subnet that exists already.
        zone: Its Availability Zone as the configuration has it, or words for one that is left out.
        availability_zone_id: The zone; None for one that is left out.
    """

    index: int
    cidr: str | None
    zone: str
    availability_zone_id: str | None = None

    @property
    def path(self) -> KeyPath:
        """Where in the configuration it gets its addresses from."""
        key = "subnet_id" if self.cidr is None else "cidr"
        return "network", "hyperpod_subnets", self.index, key

    @property
    def free_addresses(self) -> int | None:
        """Addresses that network interfaces can have while the subnet is empty, if it is new."""
        if self.cidr is None:
            return None
        return IPv4Network(self.cidr).num_addresses - _RESERVED_ADDRESSES


def subnet_for(group: NodeGroupConfig, network: NetworkConfig) -> HyperPodSubnet | None:
    """Return the subnet that a group's nodes are in; None when the group names subnets itself.

    With a zone it is the first subnet there, else the first of all. The cluster's VpcConfig names
    the first of all; any other is in the group's OverrideVpcConfig.
    """
    if group.override_vpc is not None:
        return None
    zone = group.availability_zone_id
    return next(
        subnet
        for subnet in subnets_of(network)
        if zone is None or subnet.availability_zone_id == zone
    )


def subnets_of(network: NetworkConfig) -> Iterator[HyperPodSubnet]:
    """Yield the subnets of nodes."""
    count = len(network.zones)
    pairs = zip(network.hyperpod_subnets, network.hyperpod_zone_ids, strict=True)
    for index, (subnet, zone) in enumerate(pairs):
        yield HyperPodSubnet(
            index=index,
            cidr=subnet.cidr,
            zone=zone or f"the region's zone {index % count + 1} by name",
            availability_zone_id=zone,
        )
