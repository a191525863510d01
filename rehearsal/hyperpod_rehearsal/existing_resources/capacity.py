"""What EKS node groups name: reservations, groups of them, Capacity Blocks, placement groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK, ManagedNodeGroupConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.existing_resources.networks import id_tag
from hyperpod_rehearsal.existing_resources.resource import ExistingResource

_PLATFORM, _HOURS = "Linux/UNIX", 24
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
_POOL = [
    {"Type": "AWS::EC2::CapacityReservationPool"},
    {
        "Type": "AWS::ResourceGroups::Generic",
        "Parameters": [
            {"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation:
    """A reservation or a Capacity Block that is active at once, perhaps in a resource group.

    Its zone is an ID or a name; None is the region's first one.
    """

    id: str
    instance_type: str
    count: int
    zone: str | None = None
    is_block: bool = False
    group_arn: str | None = None
    placement_group: str | None = None

    def __str__(self) -> str:
        kind = "Capacity Block" if self.is_block else "Capacity reservation"
        group = "" if self.group_arn is None else f" of {self.group_arn}"
        return f"{kind} {self.id}{group}, {self.count} {self.instance_type}"

    def make(self, clients: AwsClients) -> None:
        """Reserve it unless it is there."""
        ec2 = clients("ec2")
        there = ec2.describe_capacity_reservations()["CapacityReservations"]
        if self.id not in {reservation["CapacityReservationId"] for reservation in there}:
            self.reserve(clients)

    def reserve(self, clients: AwsClients) -> None:
        """Reserve it, in the place of one that is there."""
        ec2, tags = clients("ec2"), id_tag("capacity-reservation", self.id)
        if self.is_block:
            ec2.purchase_capacity_block(
                CapacityBlockOfferingId=self._offering(ec2),
                InstancePlatform=_PLATFORM,
                TagSpecifications=tags,
            )
            return
        ec2.create_capacity_reservation(
            InstanceType=self.instance_type,
            InstancePlatform=_PLATFORM,
            InstanceCount=self.count,
            AvailabilityZone=self._zone_name(ec2),
            TagSpecifications=tags,
            **self._placement(clients),
        )
        if self.group_arn is not None:
            _, region, account = self.group_arn.split(":")[2:5]
            arn = f"arn:aws:ec2:{region}:{account}:capacity-reservation/{self.id}"
            groups, name = clients("resource-groups"), self.group_arn.rpartition("/")[2]
            with suppress(groups.exceptions.BadRequestException):
                groups.create_group(Name=name, Configuration=_POOL)
            groups.group_resources(Group=name, ResourceArns=[arn])

    def _placement(self, clients: AwsClients) -> dict[str, str]:
        if self.placement_group is None:
            return {}
        make_placement_group(clients, self.placement_group)
        names = [self.placement_group]
        [group] = clients("ec2").describe_placement_groups(GroupNames=names)["PlacementGroups"]
        return {"PlacementGroupArn": group["GroupArn"]}

    def _offering(self, ec2: AwsClient) -> str:
        zone = self._zone_name(ec2)
        offered = ec2.describe_capacity_block_offerings(
            InstanceType=self.instance_type, InstanceCount=self.count, CapacityDurationHours=_HOURS
        )["CapacityBlockOfferings"]
        return next(
            str(offering["CapacityBlockOfferingId"])
            for offering in offered
            if offering["AvailabilityZone"] == zone
        )

    def _zone_name(self, ec2: AwsClient) -> str:
        if self.zone is not None and is_zone_name(self.zone):
            return self.zone
        zones = ec2.describe_availability_zones()["AvailabilityZones"]
        of_id = [zone["ZoneName"] for zone in zones if zone["ZoneId"] == self.zone]
        return str((of_id or sorted(zone["ZoneName"] for zone in zones))[0])


def make_placement_group(clients: AwsClients, name: str, *, strategy: str = "cluster") -> None:
    """Make a placement group unless it is there."""
    ec2 = clients("ec2")
    there = ec2.describe_placement_groups()["PlacementGroups"]
    if name not in {group["GroupName"] for group in there}:
        ec2.create_placement_group(GroupName=name, Strategy=strategy)


def placement_groups(config: Config) -> Iterator[ExistingResource]:
    """Yield the placement groups of a configuration."""
    for named in named_resources(config, "placement group"):
        make = partial(make_placement_group, name=named.value)
        yield ExistingResource(f"Placement group {named.value}", make)


def existing_reservations(config: Config) -> Iterator[ExistingResource]:
    """Yield the reservations of a configuration."""
    yield from (ExistingResource(str(e), e.make) for e in capacity_reservations(config))


def capacity_reservations(config: Config) -> Iterator[CapacityReservation]:
    """Yield each reservation where its first group is, with room for all its groups to grow."""
    named: dict[tuple[str, str], list[ManagedNodeGroupConfig]] = {}
    for group in config.node_groups:
        if group.reservation is not None:
            named.setdefault(group.reservation, []).append(group)
    for number, groups in enumerate(named.values()):
        first = groups[0]
        yield CapacityReservation(
            id=first.capacity_reservation_id or f"cr-{number:017x}",
            instance_type=first.instance_types[0],
            count=sum(group.most_nodes for group in groups),
            zone=first.availability_zone_id or config.network.hyperpod_zone_ids[0],
            is_block=first.capacity == CAPACITY_BLOCK,
            group_arn=first.capacity_reservation_resource_group_arn,
            placement_group=first.placement_group_name,
        )
