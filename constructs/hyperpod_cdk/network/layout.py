"""The subnets that a deployment creates, in a VPC of its own or in one that exists."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.network.subnets import PrivateSubnet, PublicSubnet, SubnetZone, subnet_zones


def add_public_subnets(
    scope: Construct,
    *,
    network: NetworkConfig,
    vpc: ec2.IVpc,
    internet_gateway_id: str,
    attachment: ec2.CfnVPCGatewayAttachment | None = None,
) -> list[PublicSubnet]:
    """Return the public subnets, the first ones with the NAT gateways.

    Args:
        scope: Parent.
        network: CIDR blocks, zones, and how many NAT gateways there are.
        vpc: The VPC.
        internet_gateway_id: Its internet gateway.
        attachment: What attaches that. Default: it is attached already.
    """
    return [
        PublicSubnet(
            scope,
            f"Public{index + 1}",
            vpc=vpc,
            cidr=cidr,
            zone=zone,
            internet_gateway_id=internet_gateway_id,
            attachment=attachment,
            has_nat_gateway=index < network.nat_gateway_count,
        )
        for index, (cidr, zone) in enumerate(
            zip(network.public_subnet_cidrs, subnet_zones(network), strict=False)
        )
    ]


def add_hyperpod_subnets(
    scope: Construct,
    *,
    network: NetworkConfig,
    vpc: ec2.IVpc,
    nat_gateway_ids: Sequence[str],
    secondary: Sequence[str],
) -> Mapping[int, PrivateSubnet]:
    """Return the new subnets for nodes, by their place in the list.

    Args:
        scope: Parent.
        network: CIDR blocks and zones.
        vpc: The VPC.
        nat_gateway_ids: A NAT gateway for each zone, or one for all; none for no way out.
        secondary: Which of the CIDR blocks to add to the VPC.
    """
    zones = subnet_zones(network)
    homes = {zone.zone: zone for zone in zones}
    subnets = {}
    for index, subnet in enumerate(network.hyperpod_subnets):
        if subnet.cidr is None:
            continue
        zone_id = network.hyperpod_zone_ids[index]
        by_place = zones[index % len(zones)]
        home = by_place if zone_id is None else homes.get(zone_id)
        zone = home if home is not None else SubnetZone(index=by_place.index, zone=zone_id)
        subnets[index] = PrivateSubnet(
            scope,
            f"HyperPod{index + 1}",
            vpc=vpc,
            cidr=subnet.cidr,
            zone=zone,
            nat_gateway_id=_nat_gateway_of(zone, nat_gateway_ids),
            route_table_id=subnet.route_table_id,
            secondary_cidr=subnet.cidr in secondary,
            # Load balancers of pods belong beside the pods; the EKS subnets are too small.
            tags={"kubernetes.io/role/internal-elb": "1"},
        )
    return subnets


def add_eks_subnets(
    scope: Construct,
    *,
    network: NetworkConfig,
    vpc: ec2.IVpc,
    nat_gateway_ids: Sequence[str],
    hyperpod: Sequence[PrivateSubnet],
) -> list[PrivateSubnet]:
    """Return the new subnets for the control plane.

    Args:
        scope: Parent.
        network: CIDR blocks and zones.
        vpc: The VPC.
        nat_gateway_ids: As for `add_hyperpod_subnets`.
        hyperpod: The new subnets for nodes.
    """
    return [
        PrivateSubnet(
            scope,
            f"Eks{index + 1}",
            vpc=vpc,
            cidr=cidr,
            zone=zone,
            nat_gateway_id=_nat_gateway_of(zone, nat_gateway_ids),
            # EKS may take an hour to see a block that is added after the control plane; until
            # then it reaches no webhook and no log of the nodes there.
            # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
            after=[node.cidr_block for node in hyperpod if node.cidr_block is not None],
        )
        for index, (cidr, zone) in enumerate(
            zip(network.eks_subnet_cidrs, subnet_zones(network), strict=False)
        )
    ]


def _nat_gateway_of(zone: SubnetZone, nat_gateway_ids: Sequence[str]) -> str | None:
    return nat_gateway_ids[zone.index % len(nat_gateway_ids)] if nat_gateway_ids else None
