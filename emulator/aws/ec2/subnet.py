"""What EC2 checks and counts of AWS::EC2::Subnet and MiniStack does not."""

import ipaddress
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.ec2 import availability_zones, cidr_block
from emulator.aws.ministack import ec2, get_region, provisioners

RESERVED_ADDRESSES = 5
"""Addresses of each subnet that AWS keeps: the first four and the last."""


def _check(properties: Properties) -> ipaddress.IPv4Network:
    cidr = properties.get("CidrBlock", "")
    vpc = cidr_block.vpc(properties.get("VpcId"))
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        raise Refused(f"InvalidSubnet.Range: The CIDR '{cidr}' is invalid: {error}") from error
    if not any(network.subnet_of(block) for block in cidr_block.blocks(vpc)):
        raise Refused(
            f"InvalidSubnet.Range: The CIDR '{cidr}' is outside the CIDR blocks of {vpc['VpcId']}."
        )
    for other in ec2.subnets.values():
        if other["VpcId"] == vpc["VpcId"] and network.overlaps(
            ipaddress.IPv4Network(other["CidrBlock"])
        ):
            raise Refused(
                f"InvalidSubnet.Conflict: The CIDR '{cidr}' conflicts with {other['SubnetId']}."
            )
    region_zones = availability_zones.zones(get_region())
    for key, known in (
        ("AvailabilityZone", region_zones.keys()),
        ("AvailabilityZoneId", region_zones.values()),
    ):
        if properties.get(key) and properties[key] not in known:
            raise Refused(
                f"InvalidParameterValue: Value ({properties[key]}) for parameter {key} is invalid. "
                f"It can only be one of: {', '.join(known)}."
            )
    return network


def _count_interfaces(action: str, change: int) -> None:
    """Have an action on network interfaces take an address of their subnet, or give it back."""
    act = ec2.ACTION_MAP[action]

    def counted(query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        before = dict(ec2.network_interfaces.items())
        answer: tuple[int, dict[str, str], bytes] = act(query)
        after = dict(ec2.network_interfaces.items())
        for identifier in before.keys() ^ after.keys():
            interface = before.get(identifier) or after[identifier]
            subnet = ec2.subnets.get(interface["SubnetId"])
            if subnet is not None:
                subnet["AvailableIpAddressCount"] += change
        return answer

    ec2.ACTION_MAP[action] = counted


def install() -> None:
    """Check range, overlap and zone of each subnet, and count its addresses."""
    unchecked, create_by_api = provisioners.ec2_subnet_create, ec2.ACTION_MAP["CreateSubnet"]

    def count_of_api(query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        before = set(ec2.subnets)
        answer: tuple[int, dict[str, str], bytes] = create_by_api(query)
        for subnet_id in set(ec2.subnets) - before:
            record = ec2.subnets[subnet_id]
            addresses = ipaddress.IPv4Network(record["CidrBlock"]).num_addresses
            record["AvailableIpAddressCount"] = addresses - RESERVED_ADDRESSES
        return answer

    def create(logical_id: str, properties: dict[str, Any], stack_name: str) -> Created:
        network = _check(properties)
        subnet_id, attributes = unchecked(logical_id, properties, stack_name)
        free = network.num_addresses - RESERVED_ADDRESSES
        ec2.subnets[subnet_id]["AvailableIpAddressCount"] = free
        return subnet_id, attributes

    ec2.ACTION_MAP["CreateSubnet"] = count_of_api
    _count_interfaces("CreateNetworkInterface", -1)
    _count_interfaces("DeleteNetworkInterface", +1)
    provisioners.ec2_subnet_create = create
    provisioners.RESOURCE_HANDLERS["AWS::EC2::Subnet"]["create"] = create
