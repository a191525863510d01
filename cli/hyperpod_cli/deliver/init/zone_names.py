"""The IDs of Availability Zones that are given by name, which is another place in each account."""

import re
from collections.abc import Sequence

from hyperpod_cdk.schema.errors import one_line

_NAME = r"{region}[a-z]|[a-z]"
_CONNECT_SECONDS = 5


class ZoneNameError(Exception):
    """A name that could not be looked up; says why."""


def zone_ids(zones: Sequence[str], *, region: str) -> list[str]:
    """Return zones with IDs in the place of names; what is no name of the region's stays.

    Args:
        zones: IDs, names such as us-west-2a, or their letters.
        region: The region.

    Raises:
        ZoneNameError: EC2 knows no such zone, or could not be asked.
    """
    pattern = re.compile(_NAME.format(region=re.escape(region)))
    names = {zone: f"{region}{zone[-1]}" for zone in zones if pattern.fullmatch(zone)}
    ids = _ids(sorted(set(names.values())), region=region) if names else {}
    return [ids[names[zone]] if zone in names else zone for zone in zones]


def _ids(names: Sequence[str], *, region: str) -> dict[str, str]:
    # Needed for names alone, and takes longer to import than all else takes to run.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    quick = Config(connect_timeout=_CONNECT_SECONDS, retries={"total_max_attempts": 1})
    try:
        ec2 = boto3.client("ec2", region_name=region, config=quick)
        found = ec2.describe_availability_zones(ZoneNames=names)
    except (BotoCoreError, ClientError) as error:
        raise ZoneNameError(
            f"{', '.join(names)}: is another place in each account; give the zone's ID, or "
            "credentials that allow ec2:DescribeAvailabilityZones "
            f"({one_line(error)})"
        ) from None
    return {zone["ZoneName"]: zone["ZoneId"] for zone in found["AvailabilityZones"]}
