"""What EC2 launches instances in: reservations, Capacity Blocks, and quotas of vCPUs.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PurchaseCapacityBlock.html
"""

import re
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ec2 import own_network, zones
from hyperpod_emulator.aws.ministack import (
    Query,
    Response,
    ec2,
    get_account_id,
    get_region,
    resource_groups,
    responses,
)
from hyperpod_emulator.aws.service_quotas import VALUES
from hyperpod_emulator.aws.settings import Scarcity, own_settings

_SIZE = re.compile(r"\.(?:(?P<times>\d*)x)?large$")
_OF_LARGE, _OF_XLARGE = 2, 4
# By what a family's name begins with: the codes of the quotas of On-Demand and Spot Instances.
_QUOTAS = {
    "trn": ("L-2C3B7624", "L-5480EFD2"),
    "p5": ("L-417A185B", "L-C4BD4855"),
    "p": ("L-417A185B", "L-7212CCBC"),
    "g": ("L-DB2E81BA", "L-3819A6DF"),
    "": ("L-1216C47A", "L-34B43A08"),
}
_FORMAT = "%Y-%m-%dT%H:%M:%S.000Z"
_BLOCK = "capacity-block"
_OFFERED_HOURS = 24

Reservation = dict[str, Any]

_RESERVATIONS = responses.AccountRegionScopedDict()


def install() -> None:
    """Let EC2 reserve capacity; on its own it answers that there is none."""
    ec2._ACTION_MAP.update(
        CreateCapacityReservation=_create,
        CancelCapacityReservation=_cancel,
        DescribeCapacityReservations=_describe,
        DescribeCapacityBlockOfferings=_offer,
        PurchaseCapacityBlock=_purchase,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """Instances that a node group wants, in one of some zones.

    Attributes:
        reservation: ID of a capacity reservation, or ARN of a resource group; "" for none.
        placement_group: Name of a placement group; "" for none.
    """

    instance_type: str
    zone_ids: Collection[str]
    count: int
    is_spot: bool = False
    reservation: str = ""
    placement_group: str = ""

    @property
    def vcpus(self) -> int:
        """Their vCPUs, which the size in the name of a type tells."""
        size = _SIZE.search(self.instance_type)
        if size is None:
            return self.count
        times = size["times"]
        return self.count * (_OF_LARGE if times is None else _OF_XLARGE * int(times or 1))

    @property
    def quota(self) -> str:
        """Code of the quota that counts them."""
        pair = next(codes for name, codes in _QUOTAS.items() if self.instance_type.startswith(name))
        return pair[self.is_spot]


def launch_problem(launch: Launch, others: Iterable[Launch]) -> str | None:
    """Return what EC2 says of instances that it cannot launch, next to others, or None.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html
    """
    if launch.count and (launch.reservation or launch.placement_group):
        problem = _placement_problem(launch) or _reservation_problem(launch, others)
        if problem or launch.reservation:
            return problem
    limit = VALUES[launch.quota].limit
    used = sum(each.vcpus for each in others if each.quota == launch.quota and not each.reservation)
    if launch.count and used + launch.vcpus > limit:
        return (
            "VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU "
            f"limit of {limit:g} allows for the instance bucket that the specified instance type "
            "belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an "
            "adjustment to this limit."
        )
    kind, names = launch.instance_type, [str(zones.zone_name(each)) for each in launch.zone_ids]
    if not set(zones.offers(kind)) & set(launch.zone_ids):
        return (
            f"Unsupported - Your requested instance type ({kind}) is not supported in your "
            f"requested Availability Zone ({', '.join(names)})."
        )
    is_scarce = kind in Scarcity.read(Path(own_settings().scratch)).instance_types
    if launch.count and is_scarce and launch.is_spot:
        return (
            "UnfulfillableCapacity - Unable to fulfill capacity due to your request "
            "configuration. Please adjust your request and try again."
        )
    if launch.count and is_scarce:
        return (
            f"InsufficientInstanceCapacity - We currently do not have sufficient {kind} capacity "
            f"in the Availability Zone you requested ({', '.join(names)}). Our system will be "
            "working on provisioning additional capacity."
        )
    return None


def _placement_problem(launch: Launch) -> str | None:
    name = launch.placement_group
    if not name or name in ec2._placement_groups:
        return None
    return f"InvalidPlacementGroup.Unknown - The Placement Group '{name}' is unknown."


def _reservation_problem(launch: Launch, others: Iterable[Launch]) -> str | None:
    if not launch.reservation:
        return None
    named = _members(launch.reservation)
    if not named:
        return (
            "InvalidCapacityReservationId.NotFound - The capacity reservation ID "
            f"'{launch.reservation}' does not exist"
        )
    fitting = [
        each
        for each in named
        if each["state"] == "active"
        and each["instanceType"] == launch.instance_type
        and each["availabilityZoneId"] in launch.zone_ids
        and each["tenancy"] == "default"
        # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
        and each.get("placementGroupArn", "").rpartition("/")[2] in ("", launch.placement_group)
    ]
    there = sum(each["totalInstanceCount"] for each in fitting)
    used = sum(each.count for each in others if each.reservation == launch.reservation)
    if fitting and (used + launch.count <= there or launch.reservation.startswith("arn:")):
        return None
    return (
        "ReservationCapacityExceeded - The requested reservation does not have sufficient "
        "compatible and available capacity for this request."
    )


def _members(reservation: str) -> list[Reservation]:
    """Return the reservations that an ID or the ARN of a resource group stands for."""
    ids = [reservation]
    if reservation.startswith("arn:"):
        arns = resource_groups._group_members.get(reservation.rpartition("/")[2], ())
        ids = [arn.rpartition("/")[2] for arn in arns]
    return [_RESERVATIONS[id_] for id_ in ids if id_ in _RESERVATIONS]


def _value(query: Query, name: str, default: str = "") -> str:
    return query.get(name, [default])[0]


def _reserved(query: Query, *, instance_type: str, count: int, zone_id: str) -> Reservation:
    id_ = own_network.chosen_id(query) or f"cr-{uuid.uuid4().hex[:17]}"
    arn = f"arn:aws:ec2:{get_region()}:{get_account_id()}:capacity-reservation/{id_}"
    reservation = {
        "capacityReservationId": id_,
        "ownerId": get_account_id(),
        "capacityReservationArn": arn,
        "instanceType": instance_type,
        "instancePlatform": _value(query, "InstancePlatform"),
        "availabilityZoneId": zone_id,
        "availabilityZone": zones.zone_name(zone_id),
        "tenancy": _value(query, "Tenancy", "default"),
        "totalInstanceCount": count,
        "availableInstanceCount": count,
        "state": "active",
        "startDate": datetime.now(tz=UTC).strftime(_FORMAT),
        "reservationType": "default",
    }
    _RESERVATIONS[id_] = reservation
    return reservation


def _create(query: Query) -> Response:
    zone = zones.zone_id(_value(query, "AvailabilityZone"))
    made = _reserved(
        query,
        instance_type=_value(query, "InstanceType"),
        count=int(_value(query, "InstanceCount")),
        zone_id=_value(query, "AvailabilityZoneId") or zone,
    )
    for name in ("EndDate", "PlacementGroupArn"):
        if name in query:
            made[f"{name[0].lower()}{name[1:]}"] = _value(query, name)
    return _answer("CreateCapacityReservation", made)


def _cancel(query: Query) -> Response:
    _RESERVATIONS[_value(query, "CapacityReservationId")]["state"] = "cancelled"
    return ec2._xml(HTTPStatus.OK, "CancelCapacityReservationResponse", "<return>true</return>")


def _describe(query: Query) -> Response:
    named = [values[0] for key, values in query.items() if key.startswith("CapacityReservationId.")]
    unknown = [id_ for id_ in named if id_ not in _RESERVATIONS]
    if unknown:
        return ec2._error(
            "InvalidCapacityReservationId.NotFound",
            f"The capacity reservation ID '{unknown[0]}' does not exist",
            HTTPStatus.BAD_REQUEST,
        )
    return ec2_api.listed(
        "DescribeCapacityReservations",
        "capacityReservationSet",
        (_RESERVATIONS[id_] for id_ in named or _RESERVATIONS),
    )


def _offer(query: Query) -> Response:
    """Offer a Capacity Block in each zone; the ID says of what."""
    kind, count = _value(query, "InstanceType"), _value(query, "InstanceCount")
    offered = (
        {
            "capacityBlockOfferingId": f"{kind}/{count}/{id_}",
            "instanceType": kind,
            "instanceCount": count,
            "availabilityZone": name,
        }
        for name, id_ in zones.zones(get_region()).items()
    )
    return ec2_api.listed("DescribeCapacityBlockOfferings", "capacityBlockOfferingSet", offered)


def _purchase(query: Query) -> Response:
    kind, count, zone_id = _value(query, "CapacityBlockOfferingId").split("/")
    made = _reserved(query, instance_type=kind, count=int(count), zone_id=zone_id)
    end = datetime.now(tz=UTC) + timedelta(hours=_OFFERED_HOURS)
    made |= {"reservationType": _BLOCK, "endDate": end.strftime(_FORMAT)}
    return _answer("PurchaseCapacityBlock", made)


def _answer(action: str, made: Reservation) -> Response:
    body = f"<capacityReservation>{ec2_api.members(made)}</capacityReservation>"
    return ec2._xml(HTTPStatus.OK, f"{action}Response", body)
