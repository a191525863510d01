"""A VPC that exists: what EC2 says of it, and where its route tables lead."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Network
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import S3_SERVICE
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.aws.session import listed
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
            each["AssociationId"]: IPv4Network(each["CidrBlock"])
            for each in (record or {}).get("CidrBlockAssociationSet", ())
            if each["CidrBlockState"]["State"] in ("associated", "associating")
        }

    def subnets(self) -> dict[str, Record]:
        """Return its subnets by id."""
        return {
            subnet["SubnetId"]: subnet for subnet in self._described("describe_subnets", "Subnets")
        }

    def route_tables(self) -> list[Record]:
        """Return its route tables."""
        return list(self._described("describe_route_tables", "RouteTables"))

    def nat_gateways(self) -> dict[str, Record]:
        """Return its NAT gateways by id."""
        return {
            each["NatGatewayId"]: each
            for each in self._described("describe_nat_gateways", "NatGateways")
        }

    def endpoint_services(self) -> set[str]:
        """Return the services with an available VPC endpoint, such as `ecr.api`.

        In China, the names of some begin with `cn.com.amazonaws`:
        https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/aws-services-privatelink-support.html
        """
        region = self.ec2.meta.region_name
        return {
            each["ServiceName"].partition(f".{region}.")[2]
            for each in self._described("describe_vpc_endpoints", "VpcEndpoints")
            # EC2 answers in lower case, whatever its model says.
            if each["State"].lower() == "available"
        }

    def internet_gateway_ids(self) -> list[str]:
        """Return the ids of its internet gateways, one at most."""
        attached = self._described(
            "describe_internet_gateways", "InternetGateways", where="attachment.vpc-id"
        )
        return [gateway["InternetGatewayId"] for gateway in attached]

    def security_group_ids(self) -> set[str]:
        """Return the ids of its security groups."""
        return {
            group["GroupId"]
            for group in self._described("describe_security_groups", "SecurityGroups")
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
    if config.network.vpc_id is None:
        return None
    vpc = Vpc(id=config.network.vpc_id, ec2=target.client("ec2"))
    return None if vpc.record() is None else vpc


def unserved(config: Config, vpc: Vpc) -> Sequence[str]:
    """Return the services that a network without a way out needs and the VPC has no endpoint of."""
    needed = [each.name for each in config.endpoint_services]
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
