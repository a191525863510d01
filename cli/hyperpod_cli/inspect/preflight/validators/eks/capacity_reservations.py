"""The capacity reservations that EKS node groups name have what the groups need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK, ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.node_groups import groups_with_paths, zone_ids
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_ABSENT = ("InvalidCapacityReservationId.NotFound",)
_SOON = timedelta(days=1)
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
_ACTIVE, _SCHEDULED = "active", "scheduled"
_LIKE_NODES = (
    ("platform", "InstancePlatform", "Linux/UNIX"),
    ("tenancy", "Tenancy", "default"),
)
_BLOCK = "capacity-block"

Reservation = Mapping[str, Any]
Members = Sequence[tuple[KeyPath, ManagedNodeGroupConfig]]


@validator(
    phase=Phase.CAPACITY,
    names=("capacity reservations",),
    iam=[
        "cloudformation:ListStackResources",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeCapacityReservations",
        "resource-groups:ListGroupResources",
    ],
)
def capacity_reservations(config: Config, target: Target) -> Problems:
    """A node group's reservation is not there, unusable, elsewhere or too small; it ends soon (w).

    One of another account is there if its owner shares it.

    [EC2](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html)
    """
    members: dict[tuple[str, str], list[tuple[KeyPath, ManagedNodeGroupConfig]]] = {}
    for where, group in groups_with_paths(config):
        if group.reservation is not None:
            members.setdefault(group.reservation, []).append((where, group))
    for (key, named), groups in members.items():
        use = _Use(key=key, named=named, groups=groups, config=config, target=target)
        yield from ((finding, use.command) for finding in use.findings())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Use:
    """What node groups want of a reservation, or of a resource group of several: its ID, or ARN."""

    key: str
    named: str
    groups: Members
    config: Config
    target: Target

    @property
    def is_of_several(self) -> bool:
        return self.named.startswith("arn:")

    @property
    def command(self) -> str:
        if self.is_of_several:
            return f"aws resource-groups list-group-resources --group {self.named}"
        return f"aws ec2 describe-capacity-reservations --capacity-reservation-ids {self.named}"

    def findings(self) -> Iterator[Finding]:
        reservations = self._members() if self.is_of_several else self._described([self.named])
        if not reservations:
            yield from self._absent()
            return
        usable: list[Reservation] = []
        for where, group in self.groups:
            path = (*where, self.key)
            zones = zone_ids(group, self.config, self.target)
            reasons = {
                reservation["CapacityReservationId"]: next(
                    _reasons(reservation, group, zones=zones), ""
                )
                for reservation in reservations
            }
            fitting = [
                reservation
                for reservation in reservations
                if not reasons[reservation["CapacityReservationId"]]
            ]
            usable += [reservation for reservation in fitting if reservation not in usable]
            if not fitting:
                refusals = (f"{name} {reason}" for name, reason in reasons.items())
                several = f"has none that fits: {'; '.join(refusals)}"
                message = several if self.is_of_several else reasons[self.named]
                yield error(path, self.named, message)
            for reservation in fitting:
                yield from _ending(reservation, group, path=path)
        if usable:
            yield from self._too_small(usable)

    def _described(self, ids: Sequence[str]) -> list[Reservation]:
        """Return reservations; none if one is neither the account's own nor shared with it."""
        call = self.target.client("ec2").describe_capacity_reservations
        answer = answer_of(call, *_ABSENT, CapacityReservationIds=list(ids)) or {}
        return list(answer.get("CapacityReservations", ()))

    def _members(self) -> list[Reservation]:
        """Return the reservations of the resource group; none if there is no such group."""
        client = self.target.client("resource-groups")
        try:
            resources = [*listed(client, "list_group_resources", "Resources", Group=self.named)]
        except client.exceptions.NotFoundException:
            return []
        arns = [resource["Identifier"]["ResourceArn"] for resource in resources]
        ids = [arn.rpartition("/")[2] for arn in arns if ":capacity-reservation/" in arn]
        return self._described(ids) if ids else []

    def _absent(self) -> Iterator[Finding]:
        region = self.target.region
        message = (
            f"is no resource group with a capacity reservation in {region}; add one: aws "
            "resource-groups group-resources"
            if self.is_of_several
            else f"is no capacity reservation of this account in {region}, nor one that is shared "
            "with it; `aws ec2 describe-capacity-reservations` lists those that are"
        )
        for where, _ in self.groups:
            yield error((*where, self.key), self.named, message)

    def _too_small(self, usable: Sequence[Reservation]) -> Iterator[Finding]:
        # Of a stack that is there, its own nodes are among those in use.
        is_new = not is_deployed(self.config, "node-groups", self.target)
        count = "AvailableInstanceCount" if is_new else "TotalInstanceCount"
        left = sum(reservation[count] for reservation in usable if reservation["State"] == _ACTIVE)
        wanted = sum(group.desired_size for _, group in self.groups)
        if wanted <= left:
            return
        names = ", ".join(group.name for _, group in self.groups)
        message = f"has {left} instances left, and {names} need {wanted}; lower desired_size, or "
        path = (*self.groups[0][0], self.key)
        if self.is_of_several:
            others = "the others run outside any reservation, if EC2 has them"
            yield warning(path, self.named, message + others)
        else:
            more = "reserve more: aws ec2 modify-capacity-reservation --instance-count"
            yield error(path, self.named, message + more)


def _reasons(
    reservation: Reservation, group: ManagedNodeGroupConfig, *, zones: frozenset[str]
) -> Iterator[str]:
    """Yield why a group cannot use a reservation; nothing if it can."""
    state, zone = reservation["State"], reservation.get("AvailabilityZoneId")
    is_block = reservation.get("ReservationType") == _BLOCK
    if is_block and group.capacity != CAPACITY_BLOCK:
        yield "is a Capacity Block; set capacity: CapacityBlock"
    elif not is_block and group.capacity == CAPACITY_BLOCK:
        yield "is no Capacity Block; set capacity: OnDemand"
    if reservation["InstanceType"] not in group.instance_types:
        yield f"is of {reservation['InstanceType']}; set that instance type"
    if state == _SCHEDULED and group.desired_size:
        yield f"starts on {reservation.get('StartDate')}; set desired_size: 0 until then"
    elif state not in (_ACTIVE, _SCHEDULED):
        yield f"is {state}: nodes run in one that is active"
    if zones and zone not in zones:
        where = ", ".join(sorted(zones))
        yield f"is in {zone}, and the group in {where}; place it in a HyperPod subnet of that zone"
    for noun, key, wanted in _LIKE_NODES:
        if reservation[key] != wanted:
            yield f"is of {noun} {reservation[key]}; nodes need one of {wanted}"
    placement = reservation.get("PlacementGroupArn")
    if placement is not None and not placement.endswith(f"/{group.placement_group}"):
        name = placement.rpartition("/")[2]
        yield f"is in the placement group {name}; set placement_group: {name}"


def _ending(
    reservation: Reservation, group: ManagedNodeGroupConfig, *, path: KeyPath
) -> Iterator[Finding]:
    end: datetime | None = reservation.get("EndDate")
    if end is not None and end - datetime.now(tz=UTC) < _SOON:
        what = (
            "EC2 ends its nodes half an hour before"
            if group.capacity == CAPACITY_BLOCK
            else "nodes then run on without it, and a new one need not be had"
        )
        yield warning(path, reservation["CapacityReservationId"], f"ends on {end}: {what}")
