"""Ways out of the subnets: NAT gateways of their own zone, the S3 endpoint, no public addresses."""

from typing import Any

import aws_cdk as cdk
import pytest

from tests.constructs.conftest import View
from tests.support.network_cases import DEFAULTS, SHAPES, SUBNET, network
from tests.support.template_view import TemplateView


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
def test_every_private_subnet_leaves_through_the_nat_of_its_own_zone(
    stack: cdk.Stack, view: View, shape: dict[str, Any]
) -> None:
    network(stack, shape)

    seen = view()
    nats = {
        name: zone_of(seen, seen.resources[name]["Properties"]["SubnetId"]["Ref"])
        for name in seen.ids("AWS::EC2::NatGateway")
    }
    used = set()
    for subnet, table in route_tables(seen).items():
        route = default_route(seen, table)
        if "NatGatewayId" in route:
            nat = route["NatGatewayId"]["Ref"]
            assert nats[nat] == zone_of(seen, subnet)
            used.add(nat)
        else:
            assert route["GatewayId"] == {"Ref": seen.id("AWS::EC2::InternetGateway")}
    arguments = {**DEFAULTS, **shape}
    assert used == nats.keys()
    assert len(nats) == len(set(nats.values())) == len(arguments["public_subnet_cidrs"])
    assert route_tables(seen).keys() == set(seen.ids(SUBNET))
    assert len(set(route_tables(seen).values())) == len(seen.ids(SUBNET))


@pytest.mark.parametrize("shape", SHAPES)
def test_s3_is_reached_without_nat_from_every_private_subnet(
    stack: cdk.Stack, view: View, shape: dict[str, Any]
) -> None:
    network(stack, shape)

    seen = view()
    endpoint = seen.one("AWS::EC2::VPCEndpoint", VpcEndpointType="Gateway")
    private = {
        table
        for table in route_tables(seen).values()
        if "NatGatewayId" in default_route(seen, table)
    }

    assert seen.text(endpoint["ServiceName"]) == "com.amazonaws.<AWS::Region>.s3"
    assert {table["Ref"] for table in endpoint["RouteTableIds"]} == private


def test_nothing_gets_a_public_address_but_the_nat_gateways(stack: cdk.Stack, view: View) -> None:
    network(stack, {})

    seen = view()

    assert {subnet["MapPublicIpOnLaunch"] for subnet in seen.all(SUBNET)} == {False}
    assert len(seen.all("AWS::EC2::EIP")) == len(seen.all("AWS::EC2::NatGateway"))


def test_a_nat_gateway_waits_for_its_way_out(stack: cdk.Stack, view: View) -> None:
    network(stack, {})

    seen = view()

    for nat in seen.ids("AWS::EC2::NatGateway"):
        assert seen.dependency_types(nat) >= {
            "AWS::EC2::VPCGatewayAttachment",
            "AWS::EC2::Route",
            "AWS::EC2::SubnetRouteTableAssociation",
        }
