"""A network: its subnets, and its security group."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk import Network, NetworkConfig
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.configs import BY_NAME
from tests.support.network_cases import DEFAULTS, SUBNET, THREE_ZONES
from tests.support.template_view import TemplateView

DEFAULT_EKS = ("10.192.7.0/28", "10.192.8.0/28")
SHAPES = [pytest.param({}, id="default"), pytest.param(THREE_ZONES, id="three-zones")]
SHAPES += [pytest.param(BY_NAME, id="zones-by-name")]
SHAPES += [pytest.param({"eks_subnet_cidrs": []}, id="no-control-plane")]


def network(stack: cdk.Stack, changes: dict[str, Any]) -> Network:
    return Network(stack, "Network", network=NetworkConfig(**{**DEFAULTS, **changes}))


def test_zones_left_out_are_the_regions_first_by_name(stack: cdk.Stack, view: View) -> None:
    network(stack, BY_NAME)

    def by_name(index: int) -> dict[str, Any]:
        return {"Fn::Select": [index, {"Fn::GetAZs": ""}]}

    seen = view()

    assert {subnet["CidrBlock"]: subnet["AvailabilityZone"] for subnet in seen.all(SUBNET)} == {
        "10.192.10.0/24": by_name(0),
        "10.192.11.0/24": by_name(1),
        "10.192.7.0/28": by_name(0),
        "10.192.8.0/28": by_name(1),
        "10.1.0.0/16": by_name(0),
    }
    assert not [subnet for subnet in seen.all(SUBNET) if "AvailabilityZoneId" in subnet]


@pytest.mark.parametrize("changes", [{}, {"nat_gateways": "none", "public_subnet_cidrs": []}])
def test_the_zone_of_each_subnet_is_fixed(stack: cdk.Stack, changes: dict[str, Any]) -> None:
    network(stack, {**BY_NAME, **changes})

    parameters = Template.from_stack(stack).to_json()["Parameters"].values()
    zones = [each for each in parameters if "availability_zone_ids" in each["Description"]]

    assert len(zones) == len(DEFAULT_EKS)


@pytest.mark.parametrize(
    ("subnets", "secondary"),
    [
        pytest.param(["10.1.0.0/16"], ["10.1.0.0/16"], id="outside"),
        pytest.param(["10.192.64.0/18"], [], id="inside"),
        pytest.param(["10.192.64.0/18", "10.2.0.0/16"], ["10.2.0.0/16"], id="both"),
        pytest.param(["10.1.0.0/16", "10.2.0.0/16"], ["10.1.0.0/16", "10.2.0.0/16"], id="two"),
    ],
)
def test_a_cidr_outside_the_vpc_is_attached_before_its_subnet(
    stack: cdk.Stack, view: View, subnets: Sequence[str], secondary: Sequence[str]
) -> None:
    network(stack, {"hyperpod_subnets": [{"cidr": cidr} for cidr in subnets]})

    seen = view()

    assert [block["CidrBlock"] for block in seen.all("AWS::EC2::VPCCidrBlock")] == secondary
    for cidr in secondary:
        block = seen.id("AWS::EC2::VPCCidrBlock", CidrBlock=cidr)
        assert block in seen.dependencies(seen.id(SUBNET, CidrBlock=cidr))
        # EKS may take an hour to see a block that is added after the control plane.
        for control_plane in DEFAULT_EKS:
            assert block in seen.dependencies(seen.id(SUBNET, CidrBlock=control_plane))


@pytest.mark.parametrize(
    ("zone_id", "cidr"),
    [
        pytest.param(None, "10.192.64.0/18", id="the-first"),
        pytest.param("usw2-az4", "10.192.64.0/18", id="of-a-zone"),
        pytest.param("usw2-az3", "10.2.0.0/16", id="of-another-zone"),
    ],
)
def test_the_hyperpod_subnet_of_a_zone_is_found(
    stack: cdk.Stack, view: View, zone_id: str | None, cidr: str
) -> None:
    found = network(stack, THREE_ZONES).node_subnets.in_zone(zone_id)
    cdk.CfnOutput(stack, "Found", value=found.subnet_id)

    seen = view()

    assert seen.outputs["Found"]["Value"] == {"Ref": seen.id(SUBNET, CidrBlock=cidr)}


def test_a_zone_without_a_hyperpod_subnet_is_refused(stack: cdk.Stack, raises: Raises) -> None:
    with raises(ValueError):
        network(stack, {}).node_subnets.in_zone("usw2-az1")


def zone_of(view: TemplateView, subnet: str) -> str:
    """Return a subnet's zone in a form that can be compared."""
    properties = view.resources[subnet]["Properties"]
    return str(properties.get("AvailabilityZoneId", properties.get("AvailabilityZone")))


def route_tables(view: TemplateView) -> dict[str, str]:
    """Return the route table of each subnet."""
    associations = view.all("AWS::EC2::SubnetRouteTableAssociation")
    return {item["SubnetId"]["Ref"]: item["RouteTableId"]["Ref"] for item in associations}


def default_route(view: TemplateView, table: str) -> dict[str, Any]:
    routes = view.all("AWS::EC2::Route", RouteTableId={"Ref": table})
    assert [route["DestinationCidrBlock"] for route in routes] == ["0.0.0.0/0"]
    return routes[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_private_subnet_leaves_through_the_nat_of_its_own_zone_but_for_s3(
    stack: cdk.Stack, view: View, shape: dict[str, Any]
) -> None:
    network(stack, shape)

    seen = view()
    nats = {
        name: zone_of(seen, seen.resources[name]["Properties"]["SubnetId"]["Ref"])
        for name in seen.ids("AWS::EC2::NatGateway")
    }
    used, private, homes = set(), set(), set()
    for subnet, table in route_tables(seen).items():
        route = default_route(seen, table)
        if "NatGatewayId" in route:
            nat = route["NatGatewayId"]["Ref"]
            homes.add(zone_of(seen, subnet))
            assert nats[nat] == zone_of(seen, subnet)
            used.add(nat)
            private.add(table)
        else:
            assert route["GatewayId"] == {"Ref": seen.id("AWS::EC2::InternetGateway")}
    assert used == nats.keys()
    assert sorted(nats.values()) == sorted(homes)
    assert route_tables(seen).keys() == set(seen.ids(SUBNET))
    assert len(set(route_tables(seen).values())) == len(seen.ids(SUBNET))

    endpoint = seen.one("AWS::EC2::VPCEndpoint", VpcEndpointType="Gateway")
    assert seen.text(endpoint["ServiceName"]) == "com.amazonaws.<AWS::Region>.s3"
    assert {table["Ref"] for table in endpoint["RouteTableIds"]} == private
