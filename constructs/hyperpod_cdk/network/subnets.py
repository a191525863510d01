"""Subnets placed by Availability Zone id, with their routes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Fn, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge
from hyperpod_cdk.synthesis.template_parameters import in_template, unless_given


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetZone:
    """Where a subnet goes: an AZ id, or the region's nth AZ by name.

    Attributes:
        index: Position in the region's AZs by name; used when there is no id.
        availability_zone_id: AZ id such as `usw2-az1`.
    """

    index: int
    availability_zone_id: str | None = None


# L1 throughout this file: the Subnet L2 takes an AZ name only, and its NAT gateways come with the
# Vpc's own subnet layout (https://github.com/aws/aws-cdk/issues/21690).
def _subnet(
    scope: Construct,
    *,
    vpc: ec2.IVpc,
    cidr: str,
    zone: SubnetZone,
    public: bool,
) -> ec2.CfnSubnet:
    subnet = ec2.CfnSubnet(
        scope,
        "Subnet",
        vpc_id=vpc.vpc_id,
        cidr_block=cidr,
        availability_zone=unless_given(
            zone.availability_zone_id, Fn.select(zone.index, Fn.get_azs())
        ),
        availability_zone_id=in_template(zone.availability_zone_id),
        map_public_ip_on_launch=False,
    )
    Tags.of(subnet).add("Name", subnet.node.path)
    if public:
        Tags.of(subnet).add("kubernetes.io/role/elb", "1")
    return subnet


class PublicSubnet(Construct):
    """A public subnet with a NAT gateway for the private subnets of its Availability Zone.

    Nothing in it gets a public address by default; only the NAT gateway has one.

    Attributes:
        zone: Where it is.
        nat_gateway: The NAT gateway.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        cidr: str,
        zone: SubnetZone,
        internet_gateway: ec2.CfnInternetGateway,
        attachment: ec2.CfnVPCGatewayAttachment,
    ) -> None:
        super().__init__(scope, construct_id)
        self.zone = zone
        subnet = _subnet(self, vpc=vpc, cidr=cidr, zone=zone, public=True)
        table = ec2.CfnRouteTable(self, "RouteTable", vpc_id=vpc.vpc_id)
        association = ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", subnet_id=subnet.ref, route_table_id=table.ref
        )
        route = ec2.CfnRoute(
            self,
            "DefaultRoute",
            route_table_id=table.ref,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet_gateway.ref,
        )
        route.add_resource_dependency(attachment)
        acknowledge(
            route,
            {
                f"{NIST}VPCNoUnrestrictedRouteToIGW": (
                    "It makes the subnet public, for the NAT gateway and load balancers; nothing "
                    "in it gets a public address by itself."
                )
            },
        )
        address = ec2.CfnEIP(self, "Address", domain="vpc")
        # An address can only be used once the internet gateway is attached.
        address.add_resource_dependency(attachment)
        self.nat_gateway = ec2.CfnNatGateway(
            self, "NatGateway", subnet_id=subnet.ref, allocation_id=address.attr_allocation_id
        )
        self.nat_gateway.add_resource_dependency(route)
        self.nat_gateway.add_resource_dependency(association)
        Tags.of(self.nat_gateway).add("Name", self.nat_gateway.node.path)


class PrivateSubnet(Construct):
    """A private subnet that reaches the internet through the NAT gateway of its own AZ.

    Args:
        public: The public subnet with that gateway; None for no route to the internet.
        secondary_cidr: Whether to add the CIDR block to the VPC first.
        after: What else must exist before the subnet. Default: nothing.

    Attributes:
        zone: Where it is.
        subnet: The subnet.
        cidr_block: The block that was added to the VPC, if any.
        default_route: Its route to the internet, if any.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        cidr: str,
        zone: SubnetZone,
        public: PublicSubnet | None,
        secondary_cidr: bool = False,
        after: Sequence[ec2.CfnVPCCidrBlock] = (),
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.zone = zone
        subnet = _subnet(self, vpc=vpc, cidr=cidr, zone=zone, public=False)
        for key, value in (tags if tags is not None else {}).items():
            Tags.of(subnet).add(key, value)
        self.cidr_block = (
            ec2.CfnVPCCidrBlock(self, "SecondaryCidr", vpc_id=vpc.vpc_id, cidr_block=cidr)
            if secondary_cidr
            else None
        )
        for block in after if self.cidr_block is None else [*after, self.cidr_block]:
            subnet.add_resource_dependency(block)
        table = ec2.CfnRouteTable(self, "RouteTable", vpc_id=vpc.vpc_id)
        ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", subnet_id=subnet.ref, route_table_id=table.ref
        )
        self.default_route = (
            ec2.CfnRoute(
                self,
                "DefaultRoute",
                route_table_id=table.ref,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=public.nat_gateway.ref,
            )
            if public is not None
            else None
        )
        self.subnet: ec2.ISubnet = ec2.PrivateSubnet.from_subnet_attributes(
            self,
            "Attributes",
            subnet_id=subnet.ref,
            availability_zone=subnet.attr_availability_zone,
            route_table_id=table.ref,
        )
