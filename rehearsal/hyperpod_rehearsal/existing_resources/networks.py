"""A VPC that a configuration names, and what it names in it or in the VPC of the deployment."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cli.aws.session import AwsClient
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.aws.settings import NETWORK_ID
from hyperpod_rehearsal.existing_resources.resource import ExistingResource

_VPC_PREFIX = 16


def vpc_cidr(network: NetworkConfig) -> str:
    """Return the first block of the VPC; of one that exists, a block around its new subnets.

    A subnet that would fill it has a block of its own.
    """
    if network.vpc_cidr is not None:
        return network.vpc_cidr
    nodes = () if network.add_cidrs_to_vpc else network.new_hyperpod_cidrs
    inside = map(IPv4Network, (*network.public_subnet_cidrs, *network.eks_subnet_cidrs, *nodes))
    small = (block for block in inside if block.prefixlen > _VPC_PREFIX)
    return str(next((block.supernet(new_prefix=_VPC_PREFIX) for block in small), "10.192.0.0/16"))


def free_blocks(
    network: NetworkConfig, *, prefix_length: int, others: Iterable[str] = ()
) -> Iterator[str]:
    """Yield blocks of the VPC that none of its subnets has, nor those of others.

    A VPC smaller than a block is one.
    """
    taken = [
        IPv4Network(cidr)
        for cidr in (
            *network.public_subnet_cidrs,
            *network.eks_subnet_cidrs,
            *network.new_hyperpod_cidrs,
            *others,
        )
    ]
    vpc = IPv4Network(vpc_cidr(network))
    for block in vpc.subnets(new_prefix=max(prefix_length, vpc.prefixlen)):
        if not any(block.overlaps(other) for other in taken):
            yield str(block)


def id_tag(kind: str, id_: str | None) -> list[dict[str, Any]]:
    """Return the tag by which a resource of EC2's name of a type gets an ID.

    None for an ID that no one names.
    """
    if id_ is None:
        return []
    return [{"ResourceType": kind, "Tags": [{"Key": NETWORK_ID, "Value": id_}]}]


def all_traffic_of(group_id: str) -> list[dict[str, Any]]:
    """Return the rule that lets all traffic of a security group's members through."""
    return [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}]


def default_vpc(ec2: AwsClient) -> str:
    """Return the ID of the region's default VPC."""
    vpcs = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    return str(vpcs[0]["VpcId"])


_OWN_SUBNET_PREFIX = 26


def _subnet(id_: str, *, cidr: str, zone: str | None, vpc_id: str | None) -> ExistingResource:
    """Return a subnet; without a VPC, of the default one until the deployment's is there."""

    def make(clients: AwsClients) -> None:
        ec2 = clients("ec2")
        key = "AvailabilityZone" if zone and is_zone_name(zone) else "AvailabilityZoneId"
        if id_ not in {subnet["SubnetId"] for subnet in ec2.describe_subnets()["Subnets"]}:
            ec2.create_subnet(
                VpcId=vpc_id or default_vpc(ec2),
                CidrBlock=cidr,
                TagSpecifications=id_tag("subnet", id_),
                **({key: zone} if zone else {}),
            )

    return ExistingResource(f"Subnet {id_}, {cidr} in the deployment's VPC", make)


def _create_security_group(ec2: AwsClient, id_: str, *, vpc_id: str) -> None:
    ec2.create_security_group(
        GroupName=id_,
        Description="Named by the configuration",
        VpcId=vpc_id,
        TagSpecifications=id_tag("security-group", id_),
    )


def _security_group(id_: str, *, vpc_id: str | None) -> ExistingResource:
    """Return a security group that is open to and from itself; in a VPC as a subnet is."""

    def make(clients: AwsClients) -> None:
        ec2 = clients("ec2")
        if id_ not in {
            group["GroupId"] for group in ec2.describe_security_groups()["SecurityGroups"]
        }:
            _create_security_group(ec2, id_, vpc_id=vpc_id or default_vpc(ec2))
            ec2.authorize_security_group_ingress(GroupId=id_, IpPermissions=all_traffic_of(id_))

    return ExistingResource(f"Security group {id_} in the deployment's VPC", make)


def own_networks(config: Config) -> Iterator[ExistingResource]:
    """Yield what groups name of the network, the subnets where the first HyperPod subnet is."""
    networks = [group.override_vpc for group in config.cluster.all_groups if group.override_vpc]
    ids = dict.fromkeys(itertools.chain(*(network.subnet_ids for network in networks)))
    zone, vpc_id = config.network.hyperpod_zone_ids[0], config.network.vpc_id
    blocks = free_blocks(config.network, prefix_length=_OWN_SUBNET_PREFIX)
    for id_, cidr in zip(ids, blocks, strict=False):
        yield _subnet(id_, cidr=cidr, zone=zone, vpc_id=vpc_id)
    groups = itertools.chain(*(network.security_group_ids for network in networks))
    yield from (_security_group(id_, vpc_id=vpc_id) for id_ in groups)


_ANYWHERE = "0.0.0.0/0"
_NODES_PREFIX, _SMALL_PREFIX = 20, 28
_TRANSIT_GATEWAY = "tgw-0123456789abcdef0"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetwork:
    """A VPC with DNS names, an internet gateway, and a NAT gateway for its private subnets.

    It lacks what the configuration consents to add.
    """

    network: NetworkConfig

    def __str__(self) -> str:
        named = [
            *self.network.eks_subnet_ids,
            *(subnet.subnet_id for subnet in self.network.hyperpod_subnets if subnet.subnet_id),
            *_route_table_ids(self.network),
            *self.network.nat_gateway_ids,
            *filter(None, [self.network.internet_gateway_id, self.network.security_group_id]),
        ]
        return f"VPC {', '.join([str(self.network.vpc_id), *named])}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        ec2 = clients("ec2")
        vpc_id = str(self.network.vpc_id)
        if vpc_id in {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]}:
            return
        cidr = vpc_cidr(self.network)
        ec2.create_vpc(CidrBlock=cidr, TagSpecifications=id_tag("vpc", vpc_id))
        ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsHostnames={"Value": True})
        for block in self._further_blocks(cidr):
            ec2.associate_vpc_cidr_block(VpcId=vpc_id, CidrBlock=block)
        zones = _zones(clients)
        table = self._private_route_table(ec2, zone=zones[0])
        for subnet in self._subnets(zones):
            made = ec2.create_subnet(VpcId=vpc_id, **subnet)["Subnet"]
            ec2.associate_route_table(RouteTableId=table, SubnetId=made["SubnetId"])
        for table_id in _route_table_ids(self.network):
            tags = id_tag("route-table", table_id)
            ec2.create_route_table(VpcId=vpc_id, TagSpecifications=tags)
            ec2.create_route(
                RouteTableId=table_id,
                DestinationCidrBlock=_ANYWHERE,
                TransitGatewayId=_TRANSIT_GATEWAY,
            )
        if self.network.security_group_id is not None:
            self._security_group(ec2, self.network.security_group_id)

    def _further_blocks(self, cidr: str) -> Iterator[str]:
        """Yield the blocks of new subnets that the VPC has in addition to its first one."""
        blocks = () if self.network.add_cidrs_to_vpc else self.network.new_hyperpod_cidrs
        for block in blocks:
            if not IPv4Network(block).subnet_of(IPv4Network(cidr)):
                yield block

    def _private_route_table(self, ec2: AwsClient, *, zone: str) -> str:
        """Return a table that leads to a NAT gateway in a public subnet."""
        vpc_id, network = str(self.network.vpc_id), self.network
        gateway = ec2.create_internet_gateway(
            TagSpecifications=id_tag("internet-gateway", network.internet_gateway_id)
        )["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc_id)
        public = ec2.create_route_table(VpcId=vpc_id)["RouteTable"]["RouteTableId"]
        ec2.create_route(RouteTableId=public, DestinationCidrBlock=_ANYWHERE, GatewayId=gateway)
        block = next(free_blocks(network, prefix_length=_SMALL_PREFIX))
        subnet = ec2.create_subnet(VpcId=vpc_id, CidrBlock=block, AvailabilityZone=zone)
        subnet_id = subnet["Subnet"]["SubnetId"]
        ec2.associate_route_table(RouteTableId=public, SubnetId=subnet_id)
        for nat_gateway_id in network.nat_gateway_ids or [None]:
            address = ec2.allocate_address(Domain="vpc")["AllocationId"]
            nat_gateway = ec2.create_nat_gateway(
                SubnetId=subnet_id,
                AllocationId=address,
                TagSpecifications=id_tag("natgateway", nat_gateway_id),
            )["NatGateway"]["NatGatewayId"]
        private = ec2.create_route_table(VpcId=vpc_id)["RouteTable"]["RouteTableId"]
        ec2.create_route(
            RouteTableId=private, DestinationCidrBlock=_ANYWHERE, NatGatewayId=nat_gateway
        )
        return str(private)

    def _subnets(self, zones: list[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the named subnets, as they are created."""
        network = self.network
        small = itertools.islice(free_blocks(network, prefix_length=_SMALL_PREFIX), 1, None)
        for subnet_id, block, zone in zip(
            network.eks_subnet_ids, small, itertools.cycle(zones), strict=False
        ):
            tags = id_tag("subnet", subnet_id)
            yield {"CidrBlock": block, "AvailabilityZone": zone, "TagSpecifications": tags}
        large = itertools.islice(free_blocks(network, prefix_length=_NODES_PREFIX), 1, None)
        for subnet in network.hyperpod_subnets:
            if subnet.subnet_id is not None:
                zone = str(subnet.availability_zone_id)
                key = "AvailabilityZone" if zone in zones else "AvailabilityZoneId"
                tags = id_tag("subnet", subnet.subnet_id)
                yield {"CidrBlock": next(large), key: zone, "TagSpecifications": tags}

    def _security_group(self, ec2: AwsClient, group_id: str) -> None:
        _create_security_group(ec2, group_id, vpc_id=str(self.network.vpc_id))
        itself = all_traffic_of(group_id)
        anywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": _ANYWHERE}]}]
        added = self.network.add_security_group_rules
        if "self_ingress" not in added:
            ec2.authorize_security_group_ingress(GroupId=group_id, IpPermissions=itself)
        if "self_egress" not in added:
            ec2.authorize_security_group_egress(GroupId=group_id, IpPermissions=itself)
        if "internet_egress" in added:
            ec2.revoke_security_group_egress(GroupId=group_id, IpPermissions=anywhere)


def existing_networks(config: Config) -> Iterator[ExistingResource]:
    """Yield the VPC that a configuration names, if it does."""
    if config.network.vpc_id is not None:
        network = ExistingNetwork(network=config.network)
        yield ExistingResource(str(network), network.make)


def _zones(clients: AwsClients) -> list[str]:
    """Return the names of the region's zones that EKS takes subnets in."""
    zones = clients("ec2").describe_availability_zones()["AvailabilityZones"]
    return sorted(zone["ZoneName"] for zone in zones if zone["ZoneId"] not in ZONES_WITHOUT_EKS)


def _route_table_ids(network: NetworkConfig) -> list[str]:
    ids = [subnet.route_table_id for subnet in network.hyperpod_subnets if subnet.route_table_id]
    return list(dict.fromkeys(ids))
