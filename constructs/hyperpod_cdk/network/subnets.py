"""The subnets of a network, and those of the nodes by Availability Zone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import CfnResource, Fn, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge
from hyperpod_cdk.synthesis.template_parameters import in_template, unless_given


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSubnets:
    """Private subnets for HyperPod nodes.

    Attributes:
        subnets: The subnets, one at least.
        zone_ids: The Availability Zone ID of each, such as `usw2-az2`; None where it is not known.
            Default: none is known.
    """

    subnets: Sequence[ec2.ISubnet]
    zone_ids: Sequence[str | None] = ()

    @property
    def ids(self) -> list[str]:
        """The ID of each subnet."""
        return [subnet.subnet_id for subnet in self.subnets]

    @property
    def first_zone_id(self) -> str | None:
        """The Availability Zone ID of the first subnet; None where it is not known."""
        return self.zone_ids[0] if self.zone_ids else None

    def in_zone(self, availability_zone_id: str | None) -> ec2.ISubnet:
        """Return the first subnet of an Availability Zone.

        Args:
            availability_zone_id: The zone's ID; None for the first subnet of all.

        Raises:
            ValueError: No subnet is known to be in that zone.
        """
        if availability_zone_id is None:
            return self.subnets[0]
        if availability_zone_id not in self.zone_ids:
            raise ValueError(
                f"no subnet for nodes is in {availability_zone_id!r}; they are in "
                f"{list(self.zone_ids)}"
            )
        return self.subnets[self.zone_ids.index(availability_zone_id)]

    def zone_of(self, subnet: ec2.ISubnet) -> str:
        """Return the Availability Zone ID of a subnet, or words for one that is not known.

        Args:
            subnet: One of the subnets.
        """
        index = self.subnets.index(subnet)
        known = self.zone_ids[index] if self.zone_ids else None
        return f"the zone of HyperPod subnet {index + 1}" if known is None else known


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetZone:
    """Where a subnet goes: a zone by its id or its name, or the region's nth zone by name."""

    index: int
    zone: str | None = None

    @property
    def name(self) -> str | None:
        """The name of the zone, if that is how it is found."""
        if self.zone is not None and is_zone_name(self.zone):
            return self.zone
        return unless_given(self.zone, Fn.select(self.index, Fn.get_azs()))

    @property
    def id(self) -> str | None:
        """The id of the zone, if that is how it is found."""
        is_name = self.zone is not None and is_zone_name(self.zone)
        return None if is_name else in_template(self.zone)


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
        availability_zone=zone.name,
        availability_zone_id=zone.id,
        map_public_ip_on_launch=False,
    )
    if zone.zone is not None and is_zone_name(zone.zone):
        _accept_zone_name(subnet)
    Tags.of(subnet).add("Name", subnet.node.path)
    if public:
        Tags.of(subnet).add("kubernetes.io/role/elb", "1")
    return subnet


def _accept_zone_name(subnet: ec2.CfnSubnet) -> None:
    reason = "The configuration names the zone, for one account; docs: configuration."
    acknowledge(subnet, {"CloudFormation-Validate::W3010": reason})
    # cfn-lint reads templates, and no acknowledgment of the CDK's.
    subnet.add_metadata("cfn-lint", {"config": {"ignore_checks": ["W3010"]}})


class PublicSubnet(Construct):
    """A public subnet, and a NAT gateway in it for private subnets.

    Nothing in it gets a public address by default; only the NAT gateway has one. Without an
    attachment, the internet gateway is attached already.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        cidr: str,
        zone: SubnetZone,
        internet_gateway_id: str,
        attachment: ec2.CfnVPCGatewayAttachment | None = None,
        has_nat_gateway: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
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
            gateway_id=internet_gateway_id,
        )
        acknowledge(
            route,
            {
                f"{NIST}VPCNoUnrestrictedRouteToIGW": (
                    "It makes the subnet public, for the NAT gateway and load balancers; nothing "
                    "in it gets a public address by itself."
                )
            },
        )
        if attachment is not None:
            route.add_resource_dependency(attachment)
        self.nat_gateway_id: str | None = None
        if has_nat_gateway:
            address = ec2.CfnEIP(self, "Address", domain="vpc")
            if attachment is not None:
                # An address can only be used once the internet gateway is attached.
                address.add_resource_dependency(attachment)
            nat_gateway = ec2.CfnNatGateway(
                self, "NatGateway", subnet_id=subnet.ref, allocation_id=address.attr_allocation_id
            )
            nat_gateway.add_resource_dependency(route)
            nat_gateway.add_resource_dependency(association)
            Tags.of(nat_gateway).add("Name", nat_gateway.node.path)
            self.nat_gateway_id = nat_gateway.ref


class PrivateSubnet(Construct):
    """A private subnet, with a route table of its own, or with one that exists.

    Its own route table leads to the NAT gateway, or else nowhere beyond the VPC. A secondary CIDR
    block is added to the VPC first. `internet_access` must exist before it reaches the internet.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        cidr: str,
        zone: SubnetZone,
        nat_gateway_id: str | None = None,
        route_table_id: str | None = None,
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
        self.has_own_route_table = route_table_id is None
        table_id = (
            ec2.CfnRouteTable(self, "RouteTable", vpc_id=vpc.vpc_id).ref
            if route_table_id is None
            else route_table_id
        )
        association = ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", subnet_id=subnet.ref, route_table_id=table_id
        )
        self.internet_access: list[CfnResource] = []
        if route_table_id is not None:
            self.internet_access = [association]
        elif nat_gateway_id is not None:
            self.internet_access = [
                ec2.CfnRoute(
                    self,
                    "DefaultRoute",
                    route_table_id=table_id,
                    destination_cidr_block="0.0.0.0/0",
                    nat_gateway_id=nat_gateway_id,
                )
            ]
        self.subnet: ec2.ISubnet = ec2.PrivateSubnet.from_subnet_attributes(
            self,
            "Attributes",
            subnet_id=subnet.ref,
            availability_zone=subnet.attr_availability_zone,
            route_table_id=table_id,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetMaker:
    """Adds the new subnets of a section to a VPC."""

    scope: Construct
    network: NetworkConfig
    vpc: ec2.IVpc

    def public(
        self, *, internet_gateway_id: str, attachment: ec2.CfnVPCGatewayAttachment | None = None
    ) -> list[PublicSubnet]:
        """Return the public subnets, and in them the NAT gateways.

        Without an attachment, the internet gateway is attached already.
        """
        return [
            PublicSubnet(
                self.scope,
                f"Public{index + 1}",
                vpc=self.vpc,
                cidr=cidr,
                zone=zone,
                internet_gateway_id=internet_gateway_id,
                attachment=attachment,
                has_nat_gateway=index in self.network.nat_gateway_places,
            )
            for index, (cidr, zone) in enumerate(
                zip(self.network.public_subnet_cidrs, self._zones, strict=False)
            )
        ]

    def hyperpod(
        self, *, nat_gateway_ids: Sequence[str], secondary: Sequence[str]
    ) -> Mapping[int, PrivateSubnet]:
        """Return the new subnets for nodes, by their place in the list.

        There is a NAT gateway for each zone, or one for all; none for no way out. The secondary
        CIDR blocks are added to the VPC.
        """
        zones = self._zones
        homes = {zone.zone: zone for zone in zones}
        subnets = {}
        for index, subnet in enumerate(self.network.hyperpod_subnets):
            if subnet.cidr is None:
                continue
            zone_id = self.network.hyperpod_zone_ids[index]
            by_place = zones[index % len(zones)]
            home = by_place if zone_id is None else homes.get(zone_id)
            zone = home if home is not None else SubnetZone(index=by_place.index, zone=zone_id)
            subnets[index] = PrivateSubnet(
                self.scope,
                f"HyperPod{index + 1}",
                vpc=self.vpc,
                cidr=subnet.cidr,
                zone=zone,
                nat_gateway_id=_nat_gateway_of(zone, nat_gateway_ids),
                route_table_id=subnet.route_table_id,
                secondary_cidr=subnet.cidr in secondary,
                # Load balancers of pods belong next to the pods; the EKS subnets are too small.
                tags={"kubernetes.io/role/internal-elb": "1"},
            )
        return subnets

    def eks(
        self, *, nat_gateway_ids: Sequence[str], hyperpod: Sequence[PrivateSubnet]
    ) -> list[PrivateSubnet]:
        """Return the new subnets for the control plane, beginning with the first zone."""
        return [
            PrivateSubnet(
                self.scope,
                f"Eks{index + 1}",
                vpc=self.vpc,
                cidr=cidr,
                zone=zone,
                nat_gateway_id=_nat_gateway_of(zone, nat_gateway_ids),
                # EKS may take an hour to see a block that is added after the control plane; until
                # then it reaches no webhook and no log of the nodes there.
                # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
                after=[node.cidr_block for node in hyperpod if node.cidr_block is not None],
            )
            for index, (cidr, zone) in enumerate(
                zip(self.network.eks_subnet_cidrs, self._zones, strict=False)
            )
        ]

    @property
    def _zones(self) -> list[SubnetZone]:
        """The zones of the public and EKS subnets, in order."""
        zones = enumerate(self.network.zones)
        return [SubnetZone(index=index, zone=zone) for index, zone in zones]


def _nat_gateway_of(zone: SubnetZone, nat_gateway_ids: Sequence[str]) -> str | None:
    return nat_gateway_ids[zone.index % len(nat_gateway_ids)] if nat_gateway_ids else None
