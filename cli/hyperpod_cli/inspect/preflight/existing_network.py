"""A VPC that exists: what EC2 says of it, and where its route tables lead."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Network
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import S3_SERVICE
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.schema.named_resources import Kind
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.deployed import outputs
from hyperpod_cli.inspect.preflight.validator import Target

Record = dict[str, Any]
"""As EC2 describes it."""

ANYWHERE = "0.0.0.0/0"
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
MEMBERS: Mapping[Kind, tuple[str, str, str]] = {
    "subnet": ("describe_subnets", "Subnets", "SubnetId"),
    "security group": ("describe_security_groups", "SecurityGroups", "GroupId"),
    "route table": ("describe_route_tables", "RouteTables", "RouteTableId"),
    "NAT gateway": ("describe_nat_gateways", "NatGateways", "NatGatewayId"),
    "internet gateway": ("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
}
"""How EC2 lists what is in a VPC: the operation, the list that it answers, and the ID in it."""
_OF_GATEWAY = "attachment.vpc-id"


@dataclass(frozen=True, kw_only=True, slots=True)
class Vpc:
    """A VPC, by its id; each method asks EC2."""

    id: str
    ec2: Any

    def record(self) -> Record | None:
        """Return the VPC; None if there is none."""
        return next(self._described("describe_vpcs", "Vpcs"), None)

    def blocks(self) -> dict[str, IPv4Network]:
        """Return the CIDR blocks that it has, or is getting, by their associations."""
        record = self.record()
        return {
            block["AssociationId"]: IPv4Network(block["CidrBlock"])
            for block in (record or {}).get("CidrBlockAssociationSet", ())
            if block["CidrBlockState"]["State"] in ("associated", "associating")
        }

    def members(self, kind: Kind) -> dict[str, Record]:
        """Return what is in it of a kind, one of `MEMBERS`, by ID."""
        operation, listing, id_ = MEMBERS[kind]
        where = _OF_GATEWAY if kind == "internet gateway" else "vpc-id"
        return {item[id_]: item for item in self._described(operation, listing, where=where)}

    def show(self, kind: Kind) -> str:
        """Return the command that shows the same."""
        operation = MEMBERS[kind][0].replace("_", "-")
        where = _OF_GATEWAY if kind == "internet gateway" else "vpc-id"
        filters = "--filter" if kind == "NAT gateway" else "--filters"
        return f"aws ec2 {operation} {filters} Name={where},Values={self.id}"

    def endpoint_services(self) -> set[str]:
        """Return the services with an available VPC endpoint, such as `ecr.api`.

        In China, the names of some begin with `cn.com.amazonaws`:
        https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/aws-services-privatelink-support.html
        """
        region = self.ec2.meta.region_name
        return {
            endpoint["ServiceName"].partition(f".{region}.")[2]
            for endpoint in self._described("describe_vpc_endpoints", "VpcEndpoints")
            # EC2 answers in lower case, whatever its model says.
            if endpoint["State"].lower() == "available"
        }

    def rules(self, group_id: str) -> list[Record]:
        """Return the rules of one of its security groups."""
        return [
            *self._described(
                "describe_security_group_rules",
                "SecurityGroupRules",
                where="group-id",
                value=group_id,
            )
        ]

    def has_attribute(self, name: str) -> bool:
        """Tell whether an attribute of it is on, such as `enableDnsSupport`."""
        answer = self.ec2.describe_vpc_attribute(VpcId=self.id, Attribute=name)
        return bool(answer[f"{name[0].upper()}{name[1:]}"]["Value"])

    def _described(
        self, operation: str, kind: str, *, where: str = "vpc-id", value: str | None = None
    ) -> Iterator[Record]:
        # A filter finds nothing where an id would be an error.
        filters = [{"Name": where, "Values": [value or self.id]}]
        argument = "Filter" if kind == "NatGateways" else "Filters"
        return listed(self.ec2, operation, kind, **{argument: filters})


def of_subnets(config: Config, key: str) -> dict[KeyPath, str]:
    """Return the values of a key of HyperPod subnets by their places."""
    subnets = enumerate(config.network.hyperpod_subnets)
    values = {
        ("network", "hyperpod_subnets", index, key): getattr(subnet, key)
        for index, subnet in subnets
    }
    return {path: value for path, value in values.items() if value is not None}


def of_lists(config: Config, *keys: str) -> dict[KeyPath, str]:
    """Return the values of lists of the network by their places."""
    return {
        ("network", key, index): value
        for key in keys
        for index, value in enumerate(getattr(config.network, key) or ())
    }


def existing_vpc(config: Config, target: Target) -> Vpc | None:
    """Return the VPC that a configuration names; None if it names none, or there is none."""
    return None if config.network.vpc_id is None else vpc_of_nodes(config, target)


def vpc_of_nodes(config: Config, target: Target) -> Vpc | None:
    """Return the VPC that is named, or that the deployment has made; None if there is none."""
    id_ = config.network.vpc_id or outputs(config, "platform", target).get("VpcId")
    vpc = Vpc(id=str(id_), ec2=target.client("ec2"))
    return None if id_ is None or vpc.record() is None else vpc


def unserved(config: Config, vpc: Vpc) -> Sequence[str]:
    """Return the services that a network without a way out needs and the VPC has no endpoint of."""
    needed = [service.name for service in config.endpoint_services]
    there = vpc.endpoint_services()
    return [service for service in (S3_SERVICE, *needed) if service not in there]


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
