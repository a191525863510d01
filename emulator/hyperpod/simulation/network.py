"""Which subnet a node is launched in, and its private address."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from emulator.hyperpod.simulation.hooks import Caller, Subnet, Subnets
from emulator.hyperpod.simulation.state import Cluster, InstanceGroup

# A VPC subnet keeps its first four addresses and its last one for itself (VPC user guide).
RESERVED_FIRST = 4
RESERVED_LAST = 1
# Stands in for a subnet that nobody knows: shared address space (RFC 6598), so that an address
# in it cannot be taken for one of a real VPC.
UNKNOWN_CIDR = "100.64.0.0/16"
SERVICE_SUBNET = Subnet(subnet_id="service-managed", cidr=UNKNOWN_CIDR)


class AddressBook:
    """Hands out the lowest free address of a subnet."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], set[int]] = {}

    def take(self, *, region: str, subnet: Subnet) -> str | None:
        """Return a free address of the subnet; None when there is none left."""
        network = ipaddress.ip_network(subnet.cidr)
        taken = self._taken.setdefault((region, subnet.cidr), set())
        usable = range(RESERVED_FIRST, network.num_addresses - RESERVED_LAST)
        offset = next((number for number in usable if number not in taken), None)
        if offset is None:
            return None
        taken.add(offset)
        return str(network[offset])

    def give_back(self, *, region: str, subnet: Subnet, address: str) -> None:
        """Make an address free again."""
        network = ipaddress.ip_network(subnet.cidr)
        offset = int(ipaddress.ip_address(address)) - int(network.network_address)
        self._taken[region, subnet.cidr].discard(offset)


def subnets_of(
    vpc_configs: Iterable[Mapping[str, Any]], *, caller: Caller, directory: Subnets | None
) -> dict[str, Subnet]:
    """Return the subnets that VpcConfig structures name, by id."""
    names = [name for vpc in vpc_configs for name in vpc["Subnets"]]
    found = {}
    for name in names:
        known = directory.find(subnet_id=name, caller=caller) if directory else None
        found[name] = known or Subnet(subnet_id=name, cidr=UNKNOWN_CIDR)
    return found


def subnet_of(cluster: Cluster, group: InstanceGroup) -> Subnet:
    """Return the subnet of a group's nodes: the group's own first one, or the cluster's."""
    vpc = _vpc_config(cluster, group)
    return cluster.subnets[vpc["Subnets"][0]] if vpc else SERVICE_SUBNET


def security_groups_of(cluster: Cluster, group: InstanceGroup) -> tuple[str, ...]:
    """Return the ids of the security groups of a group's nodes: its own, or the cluster's."""
    vpc = _vpc_config(cluster, group)
    return tuple(vpc["SecurityGroupIds"]) if vpc else ()


def _vpc_config(cluster: Cluster, group: InstanceGroup) -> Mapping[str, Any] | None:
    return group.spec.get("OverrideVpcConfig") or cluster.settings.get("VpcConfig")
