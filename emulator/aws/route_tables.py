"""Where the route tables of a VPC, as EC2 describes them, lead what has no public address."""

from collections.abc import Iterable, Mapping
from typing import Any

ANYWHERE = "0.0.0.0/0"
# What lies behind a transit gateway or another interface is believed to lead out.
_WAYS_OUT = ("NatGatewayId", "TransitGatewayId", "NetworkInterfaceId")
RouteTable = Mapping[str, Any]


def route_table_of(subnet_id: str, tables: Iterable[RouteTable]) -> RouteTable:
    """Return a subnet's own route table, else the main one.

    Args:
        subnet_id: Its ID.
        tables: Those of its VPC.
    """
    tables = list(tables)
    for table in tables:
        if any(each.get("SubnetId") == subnet_id for each in table["Associations"]):
            return table
    return next(table for table in tables if any(a.get("Main") for a in table["Associations"]))


def leads_out(table: RouteTable) -> bool:
    """Return whether a table has a default route, past an internet gateway.

    Args:
        table: A route table.
    """
    return any(
        route.get("DestinationCidrBlock") == ANYWHERE
        # Of a firewall's or load balancer's endpoint, EC2 names the endpoint so.
        and (
            any(route.get(key) for key in _WAYS_OUT)
            or str(route.get("GatewayId")).startswith("vpce-")
        )
        for route in table["Routes"]
    )
