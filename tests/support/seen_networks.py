"""What EC2 says of a VPC and all that is in it, to compare before and after."""

from collections.abc import Mapping
from typing import Any

from emulator.aws.clients import AwsClients

Seen = Mapping[str, Mapping[str, Any]]
"""By kind, and by id, what EC2 describes."""

# How many addresses of a subnet are free is no setting of it: whoever uses the subnet takes some.
_NO_SETTING = "AvailableIpAddressCount"
_KINDS = {
    "vpc": ("describe_vpcs", "Vpcs", "VpcId", "vpc-id"),
    "subnet": ("describe_subnets", "Subnets", "SubnetId", "vpc-id"),
    "route table": ("describe_route_tables", "RouteTables", "RouteTableId", "vpc-id"),
    "NAT gateway": ("describe_nat_gateways", "NatGateways", "NatGatewayId", "vpc-id"),
    "internet gateway": (
        "describe_internet_gateways",
        "InternetGateways",
        "InternetGatewayId",
        "attachment.vpc-id",
    ),
    "security group": ("describe_security_groups", "SecurityGroups", "GroupId", "vpc-id"),
    "endpoint": ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", "vpc-id"),
}


def seen_of(vpc_id: str, *, clients: AwsClients) -> Seen:
    """Return all that there is of a VPC."""
    ec2 = clients("ec2")
    found: dict[str, dict[str, Any]] = {}
    for kind, (call, key, id_key, name) in _KINDS.items():
        argument = "Filter" if kind == "NAT gateway" else "Filters"
        answer = getattr(ec2, call)(**{argument: [{"Name": name, "Values": [vpc_id]}]})
        found[kind] = {
            each[id_key]: {name: value for name, value in each.items() if name != _NO_SETTING}
            for each in answer[key]
            if each.get("State") != "deleted"
        }
    for attribute in ("enableDnsSupport", "enableDnsHostnames"):
        answer = ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute=attribute)
        found["vpc"][attribute] = {key: answer[key] for key in answer if key.startswith("Enable")}
    return found


def changed(before: Seen, after: Seen) -> dict[str, list[str]]:
    """Return the keys of what was there before and is another now, or gone, by kind and id."""
    return {
        f"{kind} {id_}": sorted(
            key for key in record if after[kind].get(id_, {}).get(key) != record[key]
        )
        for kind, records in before.items()
        for id_, record in records.items()
        if after[kind].get(id_) != record
    }
