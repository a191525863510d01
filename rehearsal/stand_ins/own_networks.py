"""Subnets and security groups that instance groups name, in the VPC of the deployment."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.schema.availability_zones import is_zone_name
from rehearsal.stand_ins.blocks import free_blocks
from rehearsal.stand_ins.vpc import all_traffic_of, default_vpc, id_tag

_OWN_SUBNET_PREFIX = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class Subnet:
    """A subnet of the VPC that the deployment is in.

    Attributes:
        id: Its id.
        cidr: Its addresses.
        zone: Its zone, by id or by name; None for the region's first.
        vpc_id: The VPC; None for one that the deployment makes.
    """

    id: str
    cidr: str
    zone: str | None
    vpc_id: str | None = None

    def __str__(self) -> str:
        return f"Subnet {self.id}, {self.cidr} in the deployment's VPC"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there; it moves into a new VPC once that is there."""
        ec2 = clients("ec2")
        key = "AvailabilityZone" if self.zone and is_zone_name(self.zone) else "AvailabilityZoneId"
        zone = {} if self.zone is None else {key: self.zone}
        if self.id not in {each["SubnetId"] for each in ec2.describe_subnets()["Subnets"]}:
            vpc = self.vpc_id or default_vpc(ec2)
            tags = id_tag("subnet", self.id)
            ec2.create_subnet(VpcId=vpc, CidrBlock=self.cidr, TagSpecifications=tags, **zone)


@dataclass(frozen=True, kw_only=True, slots=True)
class SecurityGroup:
    """A security group of the VPC that the deployment is in, open to and from itself.

    Attributes:
        id: Its id.
        vpc_id: The VPC; None for one that the deployment makes.
    """

    id: str
    vpc_id: str | None = None

    def __str__(self) -> str:
        return f"Security group {self.id} in the deployment's VPC"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there; it moves into a new VPC once that is there."""
        ec2 = clients("ec2")
        found = ec2.describe_security_groups()["SecurityGroups"]
        if self.id in {each["GroupId"] for each in found}:
            return
        ec2.create_security_group(
            GroupName=self.id,
            Description="Named by the configuration",
            VpcId=self.vpc_id or default_vpc(ec2),
            TagSpecifications=id_tag("security-group", self.id),
        )
        ec2.authorize_security_group_ingress(GroupId=self.id, IpPermissions=all_traffic_of(self.id))


def own_networks(config: Config) -> Iterator[Subnet | SecurityGroup]:
    """Yield what groups name of the network, the subnets where the first HyperPod subnet is."""
    networks = [group.override_vpc for group in config.cluster.all_groups if group.override_vpc]
    ids = dict.fromkeys(itertools.chain(*(each.subnet_ids for each in networks)))
    zone = config.network.hyperpod_zone_ids[0]
    blocks = free_blocks(config.network, prefix_length=_OWN_SUBNET_PREFIX)
    for id_, cidr in zip(ids, blocks, strict=False):
        yield Subnet(id=id_, cidr=cidr, zone=zone, vpc_id=config.network.vpc_id)
    groups = itertools.chain(*(each.security_group_ids for each in networks))
    yield from (SecurityGroup(id=id_, vpc_id=config.network.vpc_id) for id_ in groups)
