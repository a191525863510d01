"""Availability zone IDs, which name the same place in every account."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import AfterValidator

from hyperpod_cdk.config.faults import Fault, Path

_ZONE_ID = re.compile(r"(?P<prefix>[a-z]+(?:-[a-z]+)*[0-9]+)-az[1-9][0-9]?")
_REGION = re.compile(
    r"(?P<area>[a-z]{2})(?P<gov>-gov)?-(?P<north_south>north|south)?(?P<side>east|west|central)?"
    r"-(?P<number>[0-9]+)"
)

NamedZone = tuple[Path, str]


def _zone_id(value: str) -> str:
    if not _ZONE_ID.fullmatch(value):
        raise ValueError(
            "must be an availability zone ID such as usw2-az1, not a name such as us-west-2a; "
            "`aws ec2 describe-availability-zones` lists the IDs"
        )
    return value


AvailabilityZoneId = Annotated[str, AfterValidator(_zone_id)]
"""An availability zone ID, such as usw2-az1."""


def zone_id_prefix(region: str) -> str | None:
    """Return what the region's zone IDs start with: `usw2` for `us-west-2`.

    The isolated and sovereign partitions publish no list to check the rule against: None for them.
    """
    match = _REGION.fullmatch(region)
    if match is None:
        return None
    words = [match["gov"], match["north_south"], match["side"]]
    initials = "".join(word.lstrip("-")[0] for word in words if word)
    return f"{match['area']}{initials}{match['number']}"


def region_faults(zones: Iterable[NamedZone], *, region: str | None) -> Iterator[Fault]:
    """Find zone IDs of another region than the configured one, or than the first zone's.

    Args:
        zones: Well-formed zone IDs with their paths.
        region: The configured region; None leaves the zones to agree with each other.
    """
    expected = zone_id_prefix(region) if region else None
    reason = f"region {region} has IDs such as {expected}-az1"
    for path, zone in zones:
        match = _ZONE_ID.fullmatch(zone)
        if match is None:
            continue
        if expected is None:
            expected, reason = match["prefix"], f"the first zone, {zone}, is elsewhere"
        elif match["prefix"] != expected:
            message = f"must be a zone of the deployment's region: {reason}"
            yield Fault(path=path, value=zone, message=message)
