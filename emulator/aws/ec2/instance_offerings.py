"""DescribeInstanceTypeOfferings: every HyperPod type in each zone, but for accelerators in some.

Which zone has which type is no published fact; that not every zone has every type is:
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
"""

import re
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

from emulator.aws.ec2.availability_zones import zones
from emulator.aws.ministack import ec2, get_region, iam_actions
from emulator.aws.parent_process import Settings

_SCARCE = re.compile(r"(p|trn)\d")
WITHOUT_ACCELERATORS = frozenset({"usw2-az3", "use1-az3"})
"""Zones that the local EC2 has no P and Trn instances in."""


def _describe(
    known: frozenset[str], query: dict[str, list[str]]
) -> tuple[int, dict[str, str], bytes]:
    wanted = set(ec2.parse_filters(query).get("instance-type", known))
    kind = query.get("LocationType", ["region"])[0]
    items = "".join(
        f"<item><instanceType>{name}</instanceType><locationType>{kind}</locationType>"
        f"<location>{location}</location></item>"
        for name in sorted(wanted & known)
        for location in _locations(name, kind)
    )
    answer: tuple[int, dict[str, str], bytes] = ec2.xml(
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


def install(*, settings: Settings) -> None:
    """Answer the operation, which MiniStack does not know."""
    if settings.instance_types:
        known = frozenset(settings.instance_types.split(","))
    else:
        shape = iam_actions.load_botocore_model("sagemaker")["shapes"]["ClusterInstanceType"]
        known = frozenset(name.removeprefix("ml.") for name in shape["enum"])
    types: Any = ec2.ACTION_MAP
    types["DescribeInstanceTypeOfferings"] = partial(_describe, known)
