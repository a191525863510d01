"""Availability zones: by ID, which is the same place in every account, or by name."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.errors import Findings, KeyPath, error
from hyperpod_cdk.schema.limits import Message

# https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
_OF_MOST_REGIONS = 3
_MORE = {
    "ap-northeast-1": 4,
    "ap-northeast-2": 4,
    "ca-central-1": 4,
    "us-east-1": 6,
    "us-west-2": 4,
}


def highest_zone_number(region: str) -> int:
    """Return the highest number among the zone IDs of a public region: 4 for us-west-2.

    AWS has closed some of the lower ones to new accounts.
    """
    return _MORE.get(region, _OF_MOST_REGIONS)


_REGION = re.compile(
    r"(?P<area>[a-z]{2})(?P<gov>-gov)?-(?P<north_south>north|south)?(?P<side>east|west|central)?"
    r"-(?P<number>[0-9]+)"
)

_ZONE_ID = r"([a-z]+(?:-[a-z]+)*[0-9]+)-az[1-9][0-9]?"
_LOCAL_ZONE = r"[a-z]+(?:-[a-z]+)*-?[0-9]+-[a-z]{3}[0-9]?-(az)?[0-9]+[a-z]?"
_ZONE_NAME = r"([a-z]{2,}(?:-[a-z]+)+-[0-9]+)[a-z]"

NamedZone = tuple[KeyPath, str]


def _of_the_region(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(_LOCAL_ZONE, value):
        raise ValueError(
            "is a Local Zone, where EKS takes no subnet and the deployment makes none; name a zone "
            "of the region, such as usw2-az1; a group's nodes go into a subnet of yours there by "
            "override_vpc.subnet_ids"
        )
    return value


def _existing(value: str) -> str:
    match = re.fullmatch(_ZONE_ID, value)
    region = _regions_by_prefix().get(match[1]) if match else None
    if match and region:
        zones = [f"{match[1]}-az{number + 1}" for number in range(highest_zone_number(region))]
        if value not in zones:
            raise ValueError(f"is not a zone of {region} (zones: {', '.join(zones)})")
    return value


AvailabilityZone = Annotated[
    str,
    Field(pattern=f"^({_ZONE_ID}|{_ZONE_NAME})$"),
    Message(
        "must be an availability zone ID such as usw2-az1, or a name such as us-west-2a, "
        "which is another place in each account; `aws ec2 describe-availability-zones` lists both"
    ),
    BeforeValidator(_of_the_region),
    AfterValidator(_existing),
    Field(examples=["usw2-az1", "usw2-az3", "use1-az2", "use1-az4", "use2-az1"]),
]
"""An availability zone by ID, such as usw2-az1, or by name, such as us-west-2a."""

ZONE_ID_PATTERN = _ZONE_ID
"""Regular expression of an ID."""


def is_zone_name(zone: str) -> bool:
    """Tell whether a zone is given by its name, which is another place in each account."""
    return re.fullmatch(_ZONE_NAME, zone) is not None


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


@cache
def _regions_by_prefix() -> Mapping[str, str]:
    prefixes = {zone_id_prefix(region): region for region in regions()}
    return {prefix: region for prefix, region in prefixes.items() if prefix is not None}


def foreign_zone_findings(zone: str, *, zones: Iterable[str | None], why: str) -> Findings:
    """Find a zone ID that no HyperPod subnet is in; None stands for one that is known by name only.

    Why it has to be one of them, or what else to do, ends the message.
    """
    known = set(zones)
    if zone not in known:
        named = ", ".join(sorted(one for one in known if one))
        allowed = f"must be a HyperPod subnet's zone ({named}){why}"
        message = allowed if named else "needs network.availability_zone_ids too; or leave it out"
        yield error(("availability_zone_id",), zone, message)


def form_findings(zones: Iterable[NamedZone]) -> Findings:
    """Find zones by name next to zones by ID, which cannot be compared; malformed ones pass."""
    first: str | None = None
    for path, zone in zones:
        if not re.fullmatch(f"{_ZONE_ID}|{_ZONE_NAME}", zone):
            continue
        if first is None:
            first = zone
        elif is_zone_name(zone) != is_zone_name(first):
            message = f"must be written as {first} is: all zones by ID, or all by name"
            yield error(path, zone, message)


def region_findings(zones: Iterable[NamedZone], *, region: str | None) -> Findings:
    """Find zones of another region than the configured one, or, without one, than the first zone's.

    Malformed ones are passed over.
    """
    expected = zone_id_prefix(region) if region else None
    reason = f"region {region} has IDs such as {expected}-az1"
    for path, zone in zones:
        prefix = _prefix_of(zone)
        if prefix is None:  # the field's own pattern reports it
            continue
        if region is None and prefix not in _regions_by_prefix():
            message = (
                "is of no AWS region (an example: usw2-az1); in an isolated region, set region"
            )
            yield error(path, zone, message)
        elif expected is None:
            expected, reason = prefix, f"the first zone, {zone}, is elsewhere"
        elif prefix != expected:
            yield error(path, zone, f"must be a zone of the deployment's region: {reason}")


def _prefix_of(zone: str) -> str | None:
    """Return what the IDs of a zone's region start with."""
    by_id, by_name = re.fullmatch(_ZONE_ID, zone), re.fullmatch(_ZONE_NAME, zone)
    if by_name is not None:
        return zone_id_prefix(by_name[1])
    return None if by_id is None else by_id[1]
