"""What a network interface of a VPC reaches: by a default route all, else the VPC endpoints.

https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.aws.ec2.dns_firewall import resolves
from hyperpod_emulator.aws.ec2.network import (
    ANYWHERE,
    HTTPS,
    RouteTable,
    Rule,
    covers,
    leads_out,
    route_table_of,
)
from hyperpod_emulator.aws.ministack import ec2, get_region


def host_of(service: str) -> str:
    """Return the name of a service's endpoint in the request's region."""
    return f"{service}.{get_region()}.amazonaws.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where network interfaces are: in any of some subnets, with security groups."""

    subnets: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def vpc_id(self) -> str:
        """The VPC."""
        return str(ec2._subnets[self.subnets[0]]["VpcId"])

    @property
    def has_internet_access(self) -> bool:
        """Whether each subnet has a default route, past an internet gateway: no public address."""
        return all(leads_out(_route_table(subnet)) for subnet in self.subnets)

    def reaches(self, service: str) -> bool:
        """Return whether a service, such as `sts`, is reached by its name."""
        has_way = self.has_internet_access or self.endpoint_of(service) is not None
        return has_way and resolves(self.vpc_id, host_of(service))

    def endpoint_of(self, service: str) -> Mapping[str, Any] | None:
        """Return the VPC endpoint through which a service (`ecr.api`) is reached, or None."""
        return next((each for each in self._endpoints(service) if self._reaches(each)), None)

    def _endpoints(self, service: str) -> Iterator[Mapping[str, Any]]:
        for endpoint in ec2._vpc_endpoints.values():
            name = endpoint["ServiceName"].split(".", 3)[-1]
            if endpoint["VpcId"] == self.vpc_id and name == service:
                yield endpoint

    def _reaches(self, endpoint: Mapping[str, Any]) -> bool:
        if endpoint["VpcEndpointType"] == "Gateway":
            tables = endpoint["RouteTableIds"]
            routed = all(_route_table(each)["RouteTableId"] in tables for each in self.subnets)
            # The service's prefix list is among the addresses of the world.
            return routed and _lets_through(_rules(self.groups, "Egress"), to=(), addresses=())
        # Without private DNS, the service's name is that of its public endpoint.
        if str(endpoint["PrivateDnsEnabled"]).lower() != "true":
            return False
        there = tuple(endpoint["SecurityGroupIds"])
        return _lets_through(
            _rules(there, ""), to=self.groups, addresses=_blocks(self.subnets)
        ) and _lets_through(
            _rules(self.groups, "Egress"), to=there, addresses=_blocks(endpoint["SubnetIds"])
        )


def _route_table(subnet_id: str) -> RouteTable:
    vpc_id = ec2._subnets[subnet_id]["VpcId"]
    tables = [table for table in ec2._route_tables.values() if table["VpcId"] == vpc_id]
    return route_table_of(subnet_id, tables)


def _blocks(subnets: Iterable[str]) -> tuple[str, ...]:
    return tuple(ec2._subnets[subnet]["CidrBlock"] for subnet in subnets)


def _rules(groups: Iterable[str], direction: str) -> list[Rule]:
    found = (ec2._security_groups.get(group) for group in groups)
    return [rule for group in found if group for rule in group[f"IpPermissions{direction}"]]


def _lets_through(
    rules: Iterable[Rule], *, to: tuple[str, ...], addresses: tuple[str, ...]
) -> bool:
    """Say whether a rule lets HTTPS through from or to one of the groups, or all of the blocks."""
    return any(
        covers(rule, HTTPS)
        and (
            any(pair.get("GroupId") in to for pair in rule.get("UserIdGroupPairs", ()))
            or any(_holds(each["CidrIp"], addresses) for each in rule.get("IpRanges", ()))
        )
        for rule in rules
    )


def _holds(block: str, addresses: tuple[str, ...]) -> bool:
    """Say whether a block holds all addresses; those of the world when none are given."""
    outer = ipaddress.IPv4Network(block)
    inner = [ipaddress.IPv4Network(each) for each in addresses or (ANYWHERE,)]
    return all(each.subnet_of(outer) for each in inner)
