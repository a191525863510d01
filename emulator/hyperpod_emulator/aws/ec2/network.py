"""Route tables, rules of security groups, and rules of a DNS Firewall, as AWS describes them."""

from collections.abc import Iterable, Mapping
from typing import Any

RouteTable = Mapping[str, Any]
Rule = Mapping[str, Any]

HTTPS = 443
ANYWHERE = "0.0.0.0/0"
# What lies behind a transit gateway or another interface is believed to lead out.
_WAYS_OUT = ("NatGatewayId", "TransitGatewayId", "NetworkInterfaceId")


def route_table_of(subnet_id: str, tables: Iterable[RouteTable]) -> RouteTable:
    """Return a subnet's own route table of those of its VPC, else the main one."""
    tables = list(tables)
    for table in tables:
        if any(each.get("SubnetId") == subnet_id for each in table["Associations"]):
            return table
    return next(table for table in tables if any(a.get("Main") for a in table["Associations"]))


def leads_out(table: RouteTable) -> bool:
    """Return whether a table has a default route, past an internet gateway."""
    return any(
        route.get("DestinationCidrBlock") == ANYWHERE
        # Of a firewall's or load balancer's endpoint, EC2 names the endpoint so.
        and (
            any(route.get(key) for key in _WAYS_OUT)
            or str(route.get("GatewayId")).startswith("vpce-")
        )
        for route in table["Routes"]
    )


def covers(rule: Rule, port: int) -> bool:
    """Say whether a rule of a security group is about a port of TCP."""
    if str(rule["IpProtocol"]) == "-1":
        return True
    first, last = int(rule.get("FromPort", 0)), int(rule.get("ToPort", 0))
    return bool(rule["IpProtocol"] == "tcp" and first <= port <= last)


def firewall_action(name: str, rules: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return what the first rule that has a name does with it, such as BLOCK; "" if none has.

    A rule is an action and its domains, of which one with `*` has the names that end so:
    https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-user-managed-domain-lists.html
    """
    for action, domains in rules:
        if any(_is_of(name.lower(), domain.lower()) for domain in domains):
            return action
    return ""


def _is_of(name: str, domain: str) -> bool:
    return name.endswith(domain[1:]) if domain.startswith("*") else name == domain
