"""Private addresses of nodes."""

from __future__ import annotations

import ipaddress

from rehearsal.hyperpod.hooks import Subnet

# A VPC subnet keeps its first four addresses and its last one for itself (VPC user guide).
RESERVED_FIRST = 4
RESERVED_LAST = 1


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
