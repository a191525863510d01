"""What the network of a VPC lets nodes do, as EC2 describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.aws.clients import AwsClients
from emulator.aws.ec2.reach import ANYWHERE, leads_out, route_table_of
from emulator.hyperpod import Caller

_ALL_TRAFFIC, _HTTPS = "-1", 443
_Rule = Mapping[str, Any]


class VpcNetwork:
    """Looks at subnets and security groups once a local AWS is connected; until then at nothing."""

    def __init__(self) -> None:
        self._clients: AwsClients | None = None

    def connect(self, clients: AwsClients) -> None:
        """Look with these clients from now on."""
        self._clients = clients

    def reaches_s3(self, *, subnet_id: str, groups: tuple[str, ...], caller: Caller) -> bool:  # noqa: ARG002 - Protocol
        """Return whether a node gets its lifecycle scripts.

        It has no public address, so that an internet gateway leads nowhere:
        https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Internet_Gateway.html.
        And without DNS support it finds no name:
        https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html.
        """
        if self._clients is None:
            return True
        ec2 = self._clients("ec2")
        [subnet] = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        vpc_id = subnet["VpcId"]
        attribute = ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute="enableDnsSupport")
        in_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
        table = route_table_of(subnet_id, ec2.describe_route_tables(Filters=in_vpc)["RouteTables"])
        return (
            attribute["EnableDnsSupport"]["Value"]
            and any(_opens(rule) for rule in self._rules(groups, "IpPermissionsEgress"))
            and (leads_out(table) or _has_endpoint(ec2, in_vpc, table))
        )

    def passes_efa(self, *, groups: tuple[str, ...], caller: Caller) -> bool:  # noqa: ARG002 - Protocol
        """Return whether all traffic of the groups passes within them, by name.

        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security
        """
        return self._clients is None or all(
            any(
                rule["IpProtocol"] == _ALL_TRAFFIC
                and {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} & {*groups}
                for rule in self._rules(groups, direction)
            )
            for direction in ("IpPermissions", "IpPermissionsEgress")
        )

    def _rules(self, groups: tuple[str, ...], direction: str) -> Iterator[_Rule]:
        assert self._clients is not None  # noqa: S101 - narrows it for mypy
        found = self._clients("ec2").describe_security_groups(GroupIds=list(groups))
        for group in found["SecurityGroups"]:
            yield from group[direction]


def _has_endpoint(
    ec2: Any,  # noqa: ANN401 - a client
    in_vpc: list[dict[str, Any]],
    table: Mapping[str, Any],
) -> bool:
    """Return whether S3 has a gateway endpoint on the table, or an interface in the VPC."""
    return any(
        each["ServiceName"].endswith(".s3")
        and (each["VpcEndpointType"] != "Gateway" or table["RouteTableId"] in each["RouteTableIds"])
        for each in ec2.describe_vpc_endpoints(Filters=in_vpc)["VpcEndpoints"]
    )


def _opens(rule: _Rule) -> bool:
    """Return whether a rule lets HTTPS out to addresses of the world, or of a prefix list."""
    is_https = rule["IpProtocol"] == _ALL_TRAFFIC or (
        rule["IpProtocol"] == "tcp" and rule["FromPort"] <= _HTTPS <= rule["ToPort"]
    )
    is_wide = any(each["CidrIp"] == ANYWHERE for each in rule["IpRanges"])
    return is_https and (is_wide or bool(rule["PrefixListIds"]))
