"""DescribeInstanceTypeOfferings: every HyperPod type in each zone, but for accelerators in some.

Which zone has which type is no published fact; that not every zone has every type is:
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ministack.core.responses import get_region
from ministack.services import ec2

from emulator.aws.ec2.availability_zones import zones

_REPOSITORY = Path(__file__).resolve().parents[3]
_FACTS = _REPOSITORY / "constructs" / "hyperpod_cdk" / "facts" / "instance_types.json"
_SCARCE = re.compile(r"(p|trn)\d")
WITHOUT_ACCELERATORS = frozenset({"usw2-az3", "use1-az3"})
"""Zones that the local EC2 has no P and Trn instances in."""


@cache
def _types() -> tuple[str, ...]:
    facts = json.loads(_FACTS.read_text("utf-8"))
    return tuple(name.removeprefix("ml.") for name in facts["types"])


def _describe(query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
    wanted = set(ec2._parse_filters(query).get("instance-type", _types()))
    kind = query.get("LocationType", ["region"])[0]
    items = "".join(
        f"<item><instanceType>{name}</instanceType><locationType>{kind}</locationType>"
        f"<location>{location}</location></item>"
        for name in sorted(wanted & {*_types()})
        for location in _locations(name, kind)
    )
    answer: tuple[int, dict[str, str], bytes] = ec2._xml(
        HTTPStatus.OK,
        "DescribeInstanceTypeOfferingsResponse",
        f"<instanceTypeOfferingSet>{items}</instanceTypeOfferingSet>",
    )
    return answer


def _locations(instance_type: str, kind: str) -> Iterator[str]:
    if kind == "region":
        yield get_region()
        return
    for name, id_ in zones(get_region()).items():
        if id_ not in WITHOUT_ACCELERATORS or not _SCARCE.match(instance_type):
            yield id_ if kind == "availability-zone-id" else name


def install() -> None:
    """Answer the operation, which MiniStack does not know."""
    types: Any = ec2._ACTION_MAP
    types["DescribeInstanceTypeOfferings"] = _describe
