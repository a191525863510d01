"""Availability Zones as the regions have them: names a, b, c... and ids az1, az2..."""

from typing import Any

from emulator.aws.ministack import ec2, get_region

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
    prefix = ec2.az_id_prefix(region)
    return {f"{region}{chr(ord('a') + i)}": f"{prefix}-az{n}" for i, n in enumerate(numbers)}


def zone_name(zone_id: str) -> str | None:
    """Return the name of the zone with this id in the request's region."""
    return next((name for name, id_ in zones(get_region()).items() if id_ == zone_id), None)


def zone_id(name: str) -> str:
    """Return the id of a zone, or "" when its region has no zone of that name."""
    return zones(name[:-1]).get(name, "")


def _describe(_query: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    region = get_region()
    items = "".join(
        f"<item><zoneName>{name}</zoneName><zoneState>available</zoneState>"
        f"<regionName>{region}</regionName><zoneId>{id_}</zoneId>"
        f"<groupName>{region}-zg-1</groupName><networkBorderGroup>{region}</networkBorderGroup>"
        "<optInStatus>opt-in-not-required</optInStatus><zoneType>availability-zone</zoneType></item>"
        for name, id_ in zones(region).items()
    )
    response: tuple[int, dict[str, str], bytes] = ec2.xml(
        200,
        "DescribeAvailabilityZonesResponse",
        f"<availabilityZoneInfo>{items}</availabilityZoneInfo>",
    )
    return response


def install() -> None:
    """Let EC2 report and resolve these zones; on its own it knows three a region, az1 to az3."""
    ec2.ACTION_MAP["DescribeAvailabilityZones"] = _describe
    ec2.az_id_for_zone_name = zone_id
    ec2.zone_name_for_az_id = zone_name
