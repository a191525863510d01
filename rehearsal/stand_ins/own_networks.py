"""Subnets and security groups that instance groups name, in the VPC that the deployment makes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.network.section import NetworkConfig
from rehearsal.aws.chosen_ids import NETWORK_ID
from rehearsal.aws.clients import AwsClients

_OWN_SUBNET_PREFIX = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class Subnet:
    """A subnet of the VPC that the deployment makes.

    Attributes:
        id: Its id.
        cidr: Its addresses.
        zone_id: Id of its zone; None for the region's first.
    """

    id: str
    cidr: str
    zone_id: str | None

    def __str__(self) -> str:
        return f"Subnet {self.id}, {self.cidr} in the deployment's VPC"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there; it moves into the VPC once that is there."""
        ec2 = clients("ec2")
        zone = {} if self.zone_id is None else {"AvailabilityZoneId": self.zone_id}
        if self.id not in {each["SubnetId"] for each in ec2.describe_subnets()["Subnets"]}:
            vpc = _default_vpc(clients)
            tags = _network_tag("subnet", self.id)
            ec2.create_subnet(VpcId=vpc, CidrBlock=self.cidr, TagSpecifications=tags, **zone)


@dataclass(frozen=True, kw_only=True, slots=True)
class SecurityGroup:
    """A security group of the VPC that the deployment makes, open to and from itself.

    Attributes:
        id: Its id.
    """

    id: str

    def __str__(self) -> str:
        return f"Security group {self.id} in the deployment's VPC"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there; it moves into the VPC once that is there."""
        ec2 = clients("ec2")
        found = ec2.describe_security_groups()["SecurityGroups"]
        if self.id in {each["GroupId"] for each in found}:
            return
        ec2.create_security_group(
            GroupName=self.id,
            Description="Named by the configuration",
            VpcId=_default_vpc(clients),
            TagSpecifications=_network_tag("security-group", self.id),
        )
        itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": self.id}]}
        ec2.authorize_security_group_ingress(GroupId=self.id, IpPermissions=[itself])


def own_networks(config: Config) -> Iterator[Subnet | SecurityGroup]:
    """Yield what groups name of the network, the subnets where the first HyperPod subnet is."""
    networks = [group.override_vpc for group in config.cluster.all_groups if group.override_vpc]
    ids = dict.fromkeys(itertools.chain(*(each.subnet_ids for each in networks)))
    zone = config.network.hyperpod_zone_ids[0]
    blocks = free_blocks(config.network, prefix_length=_OWN_SUBNET_PREFIX)
    for id_, cidr in zip(ids, blocks, strict=False):
        yield Subnet(id=id_, cidr=cidr, zone_id=zone)
    groups = itertools.chain(*(each.security_group_ids for each in networks))
    yield from (SecurityGroup(id=id_) for id_ in groups)


def free_blocks(
    network: NetworkConfig, *, prefix_length: int, others: Iterable[str] = ()
) -> Iterator[str]:
    """Yield blocks of the VPC that none of its subnets has.

    Args:
        network: What the deployment has.
        prefix_length: Of each block; a smaller VPC is one.
        others: Blocks that others have put into the VPC. Default: none.
    """
    taken = [
        IPv4Network(cidr)
        for cidr in (
            *network.public_subnet_cidrs,
            *network.eks_subnet_cidrs,
            *(subnet.cidr for subnet in network.hyperpod_subnets),
            *others,
        )
    ]
    vpc = IPv4Network(network.vpc_cidr)
    for block in vpc.subnets(new_prefix=max(prefix_length, vpc.prefixlen)):
        if not any(block.overlaps(other) for other in taken):
            yield str(block)


def _network_tag(kind: str, id_: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": NETWORK_ID, "Value": id_}]}]


def _default_vpc(clients: AwsClients) -> str:
    vpcs = clients("ec2").describe_vpcs()["Vpcs"]
    return next(str(vpc["VpcId"]) for vpc in vpcs if vpc["IsDefault"])
