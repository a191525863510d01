"""Availability zones, and the instance types that they have: accelerators are not in every one.

Which zone has which type is no published fact; that not every zone has every type is:
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
"""

import re
from collections.abc import Iterator
from functools import partial

from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ministack import Query, Response, ec2, get_region, iam_actions
from hyperpod_emulator.aws.settings import own_settings

_DEFAULT_NUMBERS = (1, 2, 3)
# Regions whose zones are not az1 to az3. Which name an id has differs from account to account;
# here names follow the order of the ids.
_NUMBERS = {
    "ap-northeast-1": (1, 2, 4),
    "ap-northeast-2": (1, 2, 3, 4),
    "ca-central-1": (1, 2, 4),
    "us-east-1": (1, 2, 3, 4, 5, 6),
    "us-west-1": (1, 3),
    "us-west-2": (1, 2, 3, 4),
}


def zones(region: str) -> dict[str, str]:
    """Return the zone names of a region and the id of each, in order."""
    numbers = _NUMBERS.get(region, _DEFAULT_NUMBERS)
    prefix = ec2._az_id_prefix(region)
    return {f"{region}{chr(ord('a') + i)}": f"{prefix}-az{n}" for i, n in enumerate(numbers)}


def zone_name(zone_id: str) -> str | None:
    """Return the name of the zone with this id in the request's region."""
    return next((name for name, id_ in zones(get_region()).items() if id_ == zone_id), None)


def zone_id(name: str) -> str:
    """Return the id of a zone, or "" when its region has no zone of that name."""
    return zones(name[:-1]).get(name, "")


def _describe(_query: Query) -> Response:
    region = get_region()
    described = (
        {
            "zoneName": name,
            "zoneState": "available",
            "regionName": region,
            "zoneId": id_,
            "groupName": f"{region}-zg-1",
            "networkBorderGroup": region,
            "optInStatus": "opt-in-not-required",
            "zoneType": "availability-zone",
        }
        for name, id_ in zones(region).items()
    )
    return ec2_api.listed("DescribeAvailabilityZones", "availabilityZoneInfo", described)


def install() -> None:
    """Let EC2 report and resolve these zones, of which it knows three a region, and their types."""
    ec2._az_id_for_zone_name = zone_id
    ec2._zone_name_for_az_id = zone_name
    known = frozenset(own_settings().instance_types)
    if not known:
        shape = iam_actions._load_botocore_model("sagemaker")["shapes"]["ClusterInstanceType"]
        known = frozenset(name.removeprefix("ml.") for name in shape["enum"])
    ec2._ACTION_MAP.update(
        DescribeAvailabilityZones=_describe,
        DescribeInstanceTypeOfferings=partial(_describe_offerings, known),
    )


_SCARCE = re.compile(r"(p|trn)\d")
WITHOUT_ACCELERATORS = frozenset({"usw2-az3", "use1-az3"})
"""Zones that the local EC2 has no P and Trn instances in."""


def _describe_offerings(known: frozenset[str], query: Query) -> Response:
    wanted = set(ec2._parse_filters(query).get("instance-type", known))
    kind = query.get("LocationType", ["region"])[0]
    offerings = (
        {"instanceType": name, "locationType": kind, "location": location}
        for name in sorted(wanted & known)
        for location in _locations(name, kind)
    )
    return ec2_api.listed("DescribeInstanceTypeOfferings", "instanceTypeOfferingSet", offerings)


def _locations(instance_type: str, kind: str) -> Iterator[str]:
    if kind == "region":
        yield get_region()
        return
    for id_ in offers(instance_type):
        yield id_ if kind == "availability-zone-id" else str(zone_name(id_))


def offers(instance_type: str) -> Iterator[str]:
    """Yield the ids of the zones that have a type in the request's region."""
    for id_ in zones(get_region()).values():
        if id_ not in WITHOUT_ACCELERATORS or not _SCARCE.match(instance_type):
            yield id_
