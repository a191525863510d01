"""How far the numbers of a region's Availability Zone IDs go."""

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
