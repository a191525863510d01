"""Where route tables lead."""

from collections.abc import Iterable, Mapping
from enum import Enum

from hyperpod_cli.inspect.preflight.network.facts import ANYWHERE, Record

# Members of a route whose target leaves the VPC, an internet gateway aside: it has only those in
# whose subnet nodes have public addresses, which HyperPod's have not.
_TARGETS = (
    "NatGatewayId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "InstanceId",
    "VpcPeeringConnectionId",
    "CoreNetworkArn",
    "CarrierGatewayId",
    "LocalGatewayId",
    "EgressOnlyInternetGatewayId",
)
_INTERNET, _VIRTUAL_PRIVATE, _ENDPOINT = "igw-", "vgw-", "vpce-"


class WayOut(Enum):
    """How what is in a subnet leaves the VPC."""

    PUBLIC = "an internet gateway"
    OPEN = "a default route"
    BROKEN = "a default route whose target is gone"
    SOME = "routes to some addresses"
    NONE = "no route out of the VPC"


def way_out(table: Record) -> WayOut:
    """Return how a route table leads out of the VPC."""
    routes = table.get("Routes", ())
    if any(_gateway(route).startswith(_INTERNET) for route in routes):
        return WayOut.PUBLIC
    out = [route for route in routes if _leaves(route)]
    default = [route for route in out if route.get("DestinationCidrBlock") == ANYWHERE]
    if default:
        is_active = any(route.get("State", "active") == "active" for route in default)
        return WayOut.OPEN if is_active else WayOut.BROKEN
    return WayOut.SOME if out else WayOut.NONE


def route_table_of(subnet_id: str, tables: Iterable[Record]) -> Record:
    """Return the route table of a subnet: its own, or the VPC's main one.

    https://docs.aws.amazon.com/vpc/latest/userguide/subnet-route-tables.html
    """
    main: Record = {}
    for table in tables:
        for association in table.get("Associations", ()):
            if association.get("SubnetId") == subnet_id:
                return table
            if association.get("Main"):
                main = table
    return main


def _leaves(route: Mapping[str, object]) -> bool:
    gateway = _gateway(route)
    # Of a firewall or a Gateway Load Balancer, for which EC2's Route has no member of its own. A
    # gateway endpoint, as of S3, has a prefix list.
    # https://docs.aws.amazon.com/vpc/latest/privatelink/create-gateway-load-balancer-endpoint-service.html
    # https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/ec2/vpc_route.go
    inspects = gateway.startswith(_ENDPOINT) and bool(route.get("DestinationCidrBlock"))
    return any(map(route.get, _TARGETS)) or gateway.startswith(_VIRTUAL_PRIVATE) or inspects


def _gateway(route: Mapping[str, object]) -> str:
    return str(route.get("GatewayId") or "")
