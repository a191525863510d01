"""What is made in a VPC: its tags, its rules, and the VPC that it is in until there is its own."""

from __future__ import annotations

from typing import Any

from emulator.aws.chosen_ids import NETWORK_ID
from hyperpod_cli.aws.session import AwsClient


def id_tag(kind: str, id_: str | None) -> list[dict[str, Any]]:
    """Return the tag by which a resource gets an ID; none for an ID that nobody names.

    Args:
        kind: EC2's name of the type, such as security-group.
        id_: The ID.
    """
    if id_ is None:
        return []
    return [{"ResourceType": kind, "Tags": [{"Key": NETWORK_ID, "Value": id_}]}]


def all_traffic_of(group_id: str) -> list[dict[str, Any]]:
    """Return the rule that lets all traffic of a security group's members through."""
    return [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}]


def default_vpc(ec2: AwsClient) -> str:
    """Return the ID of the region's default VPC."""
    found = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    return str(found[0]["VpcId"])
