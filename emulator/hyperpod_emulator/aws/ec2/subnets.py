"""Subnets, and the address blocks of a VPC that they are in."""

import ipaddress
import secrets
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from aws_reference.vpc_cidr_blocks import restricted_range
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ec2 import zones
from hyperpod_emulator.aws.ministack import Query, Response, ec2, get_region, provisioners, wrap
from hyperpod_emulator.aws.refused import Refused

_SECONDARY = "_secondary_cidr_blocks"
_MIN_PREFIX, _MAX_PREFIX = 16, 28
# Quota "IPv4 CIDR blocks per VPC" of a new account, the primary block included.
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
_MOST_BLOCKS = 5


def vpc_with_id(vpc_id: object) -> dict[str, Any]:
    """Return the VPC with this id, or refuse what names none."""
    return ec2_api.existing(ec2._vpcs, vpc_id, code="InvalidVpcID", noun="vpc ID")


def blocks(record: dict[str, Any]) -> list[ipaddress.IPv4Network]:
    """Return every IPv4 block of a VPC, the primary one first."""
    secondary = record.get(_SECONDARY, {}).values()
    return [ipaddress.IPv4Network(cidr) for cidr in (record["CidrBlock"], *secondary)]


def _create(properties: Properties) -> Created:
    record = vpc_with_id(properties.get("VpcId"))
    cidr = properties.get("CidrBlock", "")
    try:
        block = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        raise Refused(
            f"InvalidParameterValue: Value ({cidr}) for parameter cidrBlock is invalid: {error}"
        ) from error
    if not _MIN_PREFIX <= block.prefixlen <= _MAX_PREFIX:
        raise Refused(f"InvalidVpc.Range: The CIDR '{cidr}' is invalid: use /16 to /28.")
    if any(block.overlaps(other) for other in blocks(record)):
        raise Refused(
            f"InvalidVpc.Range: The CIDR '{cidr}' conflicts with another CIDR block of the VPC."
        )
    # Its words on AWS are not known; the code is that of a block which conflicts.
    if refused := restricted_range(block, associated=blocks(record)):
        raise Refused(
            f"InvalidVpc.Range: The CIDR '{cidr}' is restricted for {record['VpcId']}: {refused}."
        )
    if len(blocks(record)) >= _MOST_BLOCKS:
        raise Refused(
            f"CidrLimitExceeded: This network '{record['VpcId']}' has met its maximum number of "
            f"allowed CIDRs: {_MOST_BLOCKS}"
        )
    association_id = f"vpc-cidr-assoc-{secrets.token_hex(9)[:17]}"
    record.setdefault(_SECONDARY, {})[association_id] = cidr
    return association_id, {"Id": association_id}


def _delete(association_id: str, properties: Properties) -> None:
    record = ec2._vpcs.get(properties.get("VpcId"))
    if record is None or association_id not in record.get(_SECONDARY, {}):
        return
    block = ipaddress.IPv4Network(record[_SECONDARY][association_id])
    for subnet in ec2._subnets.values():
        if subnet["VpcId"] == record["VpcId"] and block.overlaps(
            ipaddress.IPv4Network(subnet["CidrBlock"])
        ):
            raise Refused(
                f"DependencyViolation: The CIDR block {block} is in use by {subnet['SubnetId']}."
            )
    del record[_SECONDARY][association_id]


CIDR_BLOCK = ResourceType(
    name="AWS::EC2::VPCCidrBlock",
    create=_create,
    delete=_delete,
    tagged=False,
)


def _associate(query: Query) -> Response:
    properties = {"VpcId": query["VpcId"][0], "CidrBlock": query["CidrBlock"][0]}
    try:
        association_id, _ = _create(properties)
    except Refused as refused:
        code, _, message = str(refused).partition(": ")
        return ec2._error(code, message, HTTPStatus.BAD_REQUEST)
    return ec2._xml(
        HTTPStatus.OK,
        "AssociateVpcCidrBlockResponse",
        f"<vpcId>{properties['VpcId']}</vpcId><cidrBlockAssociation>"
        f"<cidrBlock>{properties['CidrBlock']}</cidrBlock>"
        f"<associationId>{association_id}</associationId>"
        "<cidrBlockState><state>associating</state></cidrBlockState></cidrBlockAssociation>",
    )


def _fields_xml(primary_only: Callable[..., str], record: dict[str, Any], tag: str = "item") -> str:
    """List the secondary blocks, too."""
    items = "".join(
        f"<item><cidrBlock>{cidr}</cidrBlock><associationId>{association_id}</associationId>"
        "<cidrBlockState><state>associated</state></cidrBlockState></item>"
        for association_id, cidr in record.get(_SECONDARY, {}).items()
    )
    end = "</cidrBlockAssociationSet>"
    return primary_only(record, tag=tag).replace(end, items + end)


RESERVED_ADDRESSES = 5
"""Addresses of each subnet that AWS keeps: the first four and the last."""


def _check(properties: Properties) -> None:
    cidr = properties.get("CidrBlock", "")
    vpc = vpc_with_id(properties.get("VpcId"))
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        raise Refused(f"InvalidSubnet.Range: The CIDR '{cidr}' is invalid: {error}") from error
    if not any(network.subnet_of(block) for block in blocks(vpc)):
        raise Refused(
            f"InvalidSubnet.Range: The CIDR '{cidr}' is outside the CIDR blocks of {vpc['VpcId']}."
        )
    for other in ec2._subnets.values():
        if other["VpcId"] == vpc["VpcId"] and network.overlaps(
            ipaddress.IPv4Network(other["CidrBlock"])
        ):
            raise Refused(
                f"InvalidSubnet.Conflict: The CIDR '{cidr}' conflicts with {other['SubnetId']}."
            )
    region_zones = zones.zones(get_region())
    for key, known in (
        ("AvailabilityZone", region_zones.keys()),
        ("AvailabilityZoneId", region_zones.values()),
    ):
        if properties.get(key) and properties[key] not in known:
            raise Refused(
                f"InvalidParameterValue: Value ({properties[key]}) for parameter {key} is invalid. "
                f"It can only be one of: {', '.join(known)}."
            )


def _count_interfaces(change: int, act: Callable[[Query], Response], query: Query) -> Response:
    """Have an action on network interfaces take an address of their subnet, or give it back."""
    before = dict(ec2._network_interfaces.items())
    answer = act(query)
    after = dict(ec2._network_interfaces.items())
    for identifier in before.keys() ^ after.keys():
        interface = before.get(identifier) or after[identifier]
        subnet = ec2._subnets.get(interface["SubnetId"])
        if subnet is not None:
            subnet["AvailableIpAddressCount"] += change
    return answer


def _count_of_api(create: Callable[[Query], Response], query: Query) -> Response:
    before = set(ec2._subnets)
    answer = create(query)
    for subnet_id in set(ec2._subnets) - before:
        _count(subnet_id)
    return answer


def _create_subnet(
    create: Callable[..., Created], logical_id: str, properties: Properties, stack: str
) -> Created:
    _check(properties)
    created = create(logical_id, properties, stack)
    _count(created[0])
    return created


def _count(subnet_id: str) -> None:
    record = ec2._subnets[subnet_id]
    addresses = ipaddress.IPv4Network(record["CidrBlock"]).num_addresses
    record["AvailableIpAddressCount"] = addresses - RESERVED_ADDRESSES


def install() -> None:
    """Check range, overlap and zone of each subnet, and count its addresses; list all blocks."""
    ec2._ACTION_MAP["AssociateVpcCidrBlock"] = _associate
    wrap(ec2, "_vpc_fields_xml", _fields_xml)
    wrap(ec2._ACTION_MAP, "CreateSubnet", _count_of_api)
    wrap(ec2._ACTION_MAP, "CreateNetworkInterface", partial(_count_interfaces, -1))
    wrap(ec2._ACTION_MAP, "DeleteNetworkInterface", partial(_count_interfaces, +1))
    wrap(provisioners, "_ec2_subnet_create", _create_subnet)
    provisioners._RESOURCE_HANDLERS["AWS::EC2::Subnet"]["create"] = provisioners._ec2_subnet_create
