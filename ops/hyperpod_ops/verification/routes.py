"""The ways out of the network."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_ops.preflight.network.facts import Vpc
from hyperpod_ops.preflight.network.subnets import unserved
from hyperpod_ops.verification.check import Check, Deployment, checked, several

_ANYWHERE = "0.0.0.0/0"


def gateways(deployment: Deployment) -> Iterator[Check]:
    """Check that each NAT gateway of a VPC of the deployment is the target of a route."""
    network = deployment.config.network
    if network.vpc_id is not None or network.closed:
        return
    used = {
        route["NatGatewayId"]
        for table in _tables(deployment)
        for route in table["Routes"]
        if "NatGatewayId" in route
    }
    wanted = deployment.config.network.nat_gateway_count
    yield checked(
        f"all {wanted} NAT gateways are routed to",
        problem=None if len(used) == wanted else f"{len(used)} are",
        advice="Nodes of a zone whose NAT gateway is not routed to reach neither images nor AWS: "
        "restore the route that somebody removed",
    )


def _endpoints(deployment: Deployment) -> Iterator[Check]:
    anywhere = [
        table["RouteTableId"]
        for table in _tables(deployment)
        for route in table["Routes"]
        if route.get("DestinationCidrBlock") == _ANYWHERE
    ]
    yield checked(
        "nothing routes to the internet",
        problem=f"{', '.join(anywhere)} does" if anywhere else None,
        advice="Remove the route that somebody added, or set network.closed to false",
    )
    vpc = Vpc(id=deployment.outputs_of("platform")["VpcId"], ec2=deployment.client("ec2"))
    missing = unserved(deployment.config, vpc)
    yield checked(
        "VPC endpoints of all services are available",
        problem=f"{', '.join(missing)} has none" if missing else None,
        advice="Deploy the platform stack again, which makes them (docs/closed-network.md)",
    )


def routes(deployment: Deployment) -> Iterator[Check]:
    """Check that each subnet of nodes has a way out that works; a closed network has endpoints."""
    if deployment.config.network.closed:
        yield from _endpoints(deployment)
        return
    tables = _tables(deployment)
    subnets = deployment.outputs_of("platform")["OutputPrivateSubnetIds"].split(",")
    without = [subnet for subnet in subnets if not _leads_out(_table_of(subnet, tables=tables))]
    yield checked(
        f"aws ec2 describe-route-tables: an active route to {_ANYWHERE} from {', '.join(subnets)}",
        problem=f"there is none from {several(without)}" if without else None,
        advice="Nodes there fetch neither images nor scripts, and never join: add a route to a NAT "
        "gateway, or restore it",
    )


def _tables(deployment: Deployment) -> list[Mapping[str, Any]]:
    in_vpc = [{"Name": "vpc-id", "Values": [deployment.outputs_of("platform")["VpcId"]]}]
    pages = deployment.client("ec2").get_paginator("describe_route_tables")
    return [table for page in pages.paginate(Filters=in_vpc) for table in page["RouteTables"]]


def _table_of(subnet: str, *, tables: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the table of a subnet: the main one unless it is associated with another."""
    own = [table for table in tables if _is_associated(table, SubnetId=subnet)]
    return next(iter(own or [table for table in tables if _is_associated(table, Main=True)]), {})


def _is_associated(table: Mapping[str, Any], **association: object) -> bool:
    return any(association.items() <= each.items() for each in table.get("Associations", ()))


def _leads_out(table: Mapping[str, Any]) -> bool:
    return any(
        route.get("DestinationCidrBlock") == _ANYWHERE and route.get("State") == "active"
        for route in table.get("Routes", ())
    )
