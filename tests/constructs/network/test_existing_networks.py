"""What of a network exists already: which combinations there are, and what is made beside it."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, Network, NetworkConfig, network_of, security_group_of
from hyperpod_cdk.network.imported import ImportedNetwork, ImportedSecurityGroup
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.network_cases import DEFAULTS, SUBNET

VPC, GROUP, TABLE = "vpc-0123456789abcdef0", "sg-0123456789abcdef0", "rtb-0123456789abcdef0"
NATS = ["nat-0123456789abcdef1", "nat-0123456789abcdef2"]
GATEWAY = "igw-0123456789abcdef0"
EKS = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
NODES = {"subnet_id": "subnet-0123456789abcdef3", "availability_zone_id": "usw2-az2"}
ZONES = ["usw2-az1", "usw2-az2"]
BLOCKS = ["10.0.1.0/28", "10.0.2.0/28"]
NEW = {"cidr": "10.0.64.0/18"}

ALL: Mapping[str, Any] = {"vpc_id": VPC, "eks_subnet_ids": EKS, "hyperpod_subnets": [NODES]}
"""A network of which all exists but the security group."""
PUBLIC: Mapping[str, Any] = {
    "internet_gateway_id": GATEWAY,
    "public_subnet_cidrs": ["10.0.10.0/24", "10.0.11.0/24"],
    "availability_zone_ids": ZONES,
}

GOOD: Mapping[str, Mapping[str, Any]] = {
    "all": ALL,
    "a security group": {**ALL, "security_group_id": GROUP},
    "rules": {**ALL, "security_group_id": GROUP, "add_security_group_rules": ["self_ingress"]},
    "further nodes' subnet": {
        **ALL,
        "hyperpod_subnets": [NODES, {**NEW, "route_table_id": TABLE}],
    },
    "one NAT gateway": {**ALL, "hyperpod_subnets": [NEW], "nat_gateway_ids": NATS[:1]},
    "NAT gateways by zone": {
        **ALL,
        "availability_zone_ids": ZONES,
        "hyperpod_subnets": [NEW],
        "nat_gateway_ids": NATS,
    },
    "new EKS subnets": {
        **ALL,
        "eks_subnet_ids": [],
        "eks_subnet_cidrs": BLOCKS,
        "availability_zone_ids": ZONES,
    },
    "new NAT gateways": {**ALL, **PUBLIC, "hyperpod_subnets": [NEW]},
    "one new NAT gateway": {**ALL, **PUBLIC, "hyperpod_subnets": [NEW], "nat_gateways": "single"},
    "public subnets beside NAT gateways": {
        **ALL,
        **PUBLIC,
        "hyperpod_subnets": [NEW],
        "nat_gateway_ids": NATS,
    },
    "added blocks": {
        **ALL,
        "hyperpod_subnets": [NEW],
        "nat_gateway_ids": NATS[:1],
        "add_cidrs_to_vpc": True,
    },
    "zones by name": {
        **ALL,
        "hyperpod_subnets": [{**NODES, "availability_zone_id": "us-west-2b"}],
    },
    "a single NAT gateway": {"nat_gateways": "single"},
    "a single public subnet": {
        "nat_gateways": "single",
        "public_subnet_cidrs": ["10.192.10.0/24"],
        "availability_zone_ids": ZONES,
    },
    "no NAT gateway": {"nat_gateways": "none", "public_subnet_cidrs": []},
    "nodes beyond the zones of a single NAT gateway": {
        "nat_gateways": "single",
        "availability_zone_ids": ZONES,
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az4"}],
    },
}
SUBNETS = "hyperpod_subnets"
BAD: list[tuple[Mapping[str, Any], str]] = [
    ({**ALL, "vpc_cidr": "10.0.0.0/16"}, "vpc_cidr"),
    ({"vpc_cidr": None}, "vpc_cidr"),
    ({**ALL, "eks_subnet_ids": EKS[:1]}, "eks_subnet_ids"),
    ({**ALL, "eks_subnet_ids": EKS[:1] * 2}, "eks_subnet_ids[1]"),
    ({**ALL, "eks_subnet_cidrs": BLOCKS}, "eks_subnet_ids"),
    ({**ALL, SUBNETS: [{}]}, "hyperpod_subnets[0].cidr"),
    (
        {**ALL, SUBNETS: [{**NODES, **NEW}]},
        "hyperpod_subnets[0].cidr",
    ),
    (
        {**ALL, SUBNETS: [{**NODES, "route_table_id": TABLE}]},
        "hyperpod_subnets[0].route_table_id",
    ),
    (
        {**ALL, SUBNETS: [{"subnet_id": NODES["subnet_id"]}]},
        "hyperpod_subnets[0].availability_zone_id",
    ),
    ({**ALL, SUBNETS: [NODES, NODES]}, "hyperpod_subnets[1].subnet_id"),
    (
        {**ALL, SUBNETS: [NEW]},
        "hyperpod_subnets[0].route_table_id",
    ),
    ({**ALL, "nat_gateway_ids": NATS[:1]}, "nat_gateway_ids"),
    (
        {**ALL, SUBNETS: [NEW], "nat_gateway_ids": NATS},
        "nat_gateway_ids",
    ),
    (
        {**ALL, SUBNETS: [NEW], "nat_gateway_ids": NATS[:1], "nat_gateways": "single"},
        "nat_gateways",
    ),
    (
        {
            **ALL,
            "availability_zone_ids": ZONES,
            SUBNETS: [{**NEW, "availability_zone_id": "usw2-az3"}],
            "nat_gateway_ids": NATS,
        },
        "hyperpod_subnets[0].availability_zone_id",
    ),
    (
        {**ALL, **PUBLIC, "internet_gateway_id": None},
        "internet_gateway_id",
    ),
    (
        {**ALL, "internet_gateway_id": GATEWAY},
        "internet_gateway_id",
    ),
    ({**ALL, "add_cidrs_to_vpc": True}, "add_cidrs_to_vpc"),
    (
        {**ALL, "add_security_group_rules": ["self_ingress"]},
        "add_security_group_rules",
    ),
    (
        {**ALL, "security_group_id": GROUP, "add_security_group_rules": ["self_ingress"] * 2},
        "add_security_group_rules[1]",
    ),
    ({"eks_subnet_ids": EKS}, "eks_subnet_ids"),
    ({"security_group_id": GROUP}, "security_group_id"),
    ({"nat_gateway_ids": NATS[:1], "nat_gateways": "none"}, "nat_gateway_ids"),
    ({"internet_gateway_id": GATEWAY}, "internet_gateway_id"),
    ({"add_cidrs_to_vpc": True}, "add_cidrs_to_vpc"),
    (
        {SUBNETS: [NODES]},
        "hyperpod_subnets[0].subnet_id",
    ),
    (
        {SUBNETS: [{**NEW, "route_table_id": TABLE}]},
        "hyperpod_subnets[0].route_table_id",
    ),
    (
        {"nat_gateways": "single", "public_subnet_cidrs": []},
        "nat_gateways",
    ),
]


@pytest.mark.parametrize("values", GOOD.values(), ids=GOOD)
def test_combinations_that_make_sense(values: Mapping[str, Any], stack: cdk.Stack) -> None:
    network = NetworkConfig(**values)
    made = network_of(stack, "Network", network=network)

    assert isinstance(made, ImportedNetwork if network.vpc_id else Network)
    assert len(made.eks_subnets) == 2
    assert len(made.node_subnets.subnets) == len(network.hyperpod_subnets)


@pytest.mark.parametrize(("values", "place"), BAD)
def test_others_are_refused_in_one_line(
    values: Mapping[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(ConfigError) as caught:
        NetworkConfig(**values)

    [line] = caught.value.lines
    assert line.startswith(f"NetworkConfig.{place}: ")
    assert line == snapshot


def test_nothing_is_made_where_all_exists(stack: cdk.Stack) -> None:
    config = NetworkConfig(**ALL, security_group_id=GROUP)
    made = network_of(stack, "Network", network=config)
    group = security_group_of(stack, "Group", network=config, vpc=made.vpc)

    assert isinstance(group, ImportedSecurityGroup)
    assert group.security_group.security_group_id == GROUP
    assert [subnet.subnet_id for subnet in made.eks_subnets] == EKS
    assert made.node_subnets.ids == [NODES["subnet_id"]]
    assert made.vpc.vpc_id == VPC
    cdk.CfnWaitConditionHandle(stack, "Only")
    types = {each["Type"] for each in Template.from_stack(stack).to_json()["Resources"].values()}
    assert types == {"AWS::CloudFormation::WaitConditionHandle"}


def test_only_consented_rules_are_added(stack: cdk.Stack, view: View) -> None:
    config = NetworkConfig(
        **ALL,
        security_group_id=GROUP,
        add_security_group_rules=("self_ingress", "self_egress", "internet_egress"),
    )
    security_group_of(
        stack, "Group", network=config, vpc=network_of(stack, "Network", network=config).vpc
    )

    seen = view()

    [ingress] = seen.all("AWS::EC2::SecurityGroupIngress")
    assert (ingress["GroupId"], ingress["SourceSecurityGroupId"]) == (GROUP, GROUP)
    egress = seen.all("AWS::EC2::SecurityGroupEgress")
    assert {rule.get("DestinationSecurityGroupId", rule.get("CidrIp")) for rule in egress} == {
        GROUP,
        "0.0.0.0/0",
    }


def test_new_subnets_route_through_what_exists(stack: cdk.Stack, view: View) -> None:
    config = NetworkConfig(
        **{
            **ALL,
            "availability_zone_ids": ZONES,
            "nat_gateway_ids": NATS,
            "hyperpod_subnets": [
                {"cidr": "10.0.64.0/18", "availability_zone_id": "usw2-az2"},
                {"cidr": "10.0.128.0/18", "route_table_id": TABLE},
            ],
        }
    )
    made = network_of(stack, "Network", network=config)

    seen = view()

    assert [route["NatGatewayId"] for route in seen.all("AWS::EC2::Route")] == [NATS[1]]
    tables = [each["RouteTableId"] for each in seen.all("AWS::EC2::SubnetRouteTableAssociation")]
    assert TABLE in tables
    # A route table takes one endpoint of a service, and the user's may have one.
    [endpoint] = seen.all("AWS::EC2::VPCEndpoint")
    assert endpoint["RouteTableIds"] == [table for table in tables if table != TABLE]
    assert len(made.internet_access) == 2
    assert not seen.all("AWS::EC2::NatGateway")
    assert not seen.all("AWS::EC2::VPCCidrBlock")


def test_public_subnets_use_the_internet_gateway_of_the_vpc(stack: cdk.Stack, view: View) -> None:
    config = NetworkConfig(**{**ALL, **PUBLIC, "hyperpod_subnets": [NEW]})
    network_of(stack, "Network", network=config)

    seen = view()

    routes = seen.all("AWS::EC2::Route")
    assert [each["GatewayId"] for each in routes if "GatewayId" in each] == [GATEWAY] * 2
    assert len(seen.all("AWS::EC2::NatGateway")) == 2
    assert not seen.all("AWS::EC2::InternetGateway")
    assert not seen.all("AWS::EC2::VPCGatewayAttachment")


def test_zones_by_name(stack: cdk.Stack, view: View) -> None:
    names = ["us-west-2a", "us-west-2c"]
    changes = {
        "availability_zone_ids": names,
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "us-west-2c"}],
    }
    network_of(stack, "Network", network=NetworkConfig(**{**DEFAULTS, **changes}))

    found = view().all(SUBNET)

    assert {each["AvailabilityZone"] for each in found} == set(names)
    assert not [each for each in found if "AvailabilityZoneId" in each]


def test_a_single_nat_gateway_serves_every_zone(stack: cdk.Stack, view: View) -> None:
    config = NetworkConfig(**{**DEFAULTS, "nat_gateways": "single"})
    network_of(stack, "Network", network=config)

    seen = view()

    [gateway] = seen.all("AWS::EC2::NatGateway")
    routed = {str(each.get("NatGatewayId")) for each in seen.all("AWS::EC2::Route")} - {"None"}
    assert len(routed) == 1
    assert len(seen.all(SUBNET)) == 5
    assert gateway["SubnetId"] == {"Ref": seen.id(SUBNET, CidrBlock="10.192.10.0/24")}


def test_without_public_subnets_there_is_no_internet_gateway(stack: cdk.Stack, view: View) -> None:
    config = NetworkConfig(**{**DEFAULTS, "nat_gateways": "none", "public_subnet_cidrs": []})
    made = network_of(stack, "Network", network=config)

    seen = view()

    assert not seen.all("AWS::EC2::InternetGateway")
    assert not seen.all("AWS::EC2::Route")
    assert made.internet_access == []
    assert len(seen.all("AWS::EC2::VPCEndpoint")) == 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Network, ALL),
        (ImportedNetwork, {}),
        (ImportedSecurityGroup, ALL),
    ],
)
def test_each_kind_is_for_its_own(
    kind: type[Network], values: Mapping[str, Any], stack: cdk.Stack, raises: Raises
) -> None:
    with raises(ValueError):
        kind(stack, "Network", network=NetworkConfig(**values))
