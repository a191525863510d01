"""What the picture says of a VPC, its subnets and its security groups."""

from collections.abc import Mapping

from hyperpod_ops.diagram.card import Card, Column, Surroundings
from hyperpod_ops.diagram.templates import Resource, text


def vpc_card(vpc: Resource, around: Surroundings) -> Card:
    """Return the card of a VPC, with its subnets by zone."""
    blocks = [
        text(block.properties["CidrBlock"]) for block in around.of_type("AWS::EC2::VPCCidrBlock")
    ]
    endpoints = [
        f"{text(item.properties['ServiceName']).rpartition('.')[2].upper()} endpoint"
        for item in around.of_type("AWS::EC2::VPCEndpoint")
    ]
    logs = ["flow log"] if around.of_type("AWS::EC2::FlowLog") else []
    gateways = ["internet gateway"] if around.of_type("AWS::EC2::VPCGatewayAttachment") else []
    zones: dict[str, list[tuple[int, Card]]] = {}
    for subnet in around.of_type("AWS::EC2::Subnet"):
        zones.setdefault(_zone(subnet), []).append(_subnet(subnet, around))
    return Card(
        kind="VPC",
        name=" + ".join([text(vpc.properties["CidrBlock"]), *blocks]),
        lines=(", ".join([*gateways, *endpoints, *logs]),),
        columns=tuple(
            Column(
                title=f"Availability Zone {zone}",
                cards=tuple(item for _, item in sorted(cards, key=lambda entry: entry[0])),
            )
            for zone, cards in sorted(zones.items())
        ),
    )


def _subnet(subnet: Resource, around: Surroundings) -> tuple[int, Card]:
    """Return a subnet's place from the top in its zone, and its card."""
    nats = [item for item in around.of_type("AWS::EC2::NatGateway") if subnet.address in item.needs]
    eks = [
        item for item in around.stack.of_type("AWS::EKS::Cluster") if subnet.address in item.needs
    ]
    route = _default_route(subnet, around)
    cidr = text(subnet.properties["CidrBlock"])
    if "GatewayId" in route:
        lines = ("NAT gateway",) if nats else ()
        return 0, Card(kind="Public subnet", name=cidr, lines=lines)
    lines = (_way_out(subnet, route, around),)
    if eks:
        return 1, Card(kind="EKS subnet", name=cidr, lines=lines)
    if subnet.address in around.hyperpod_subnets:
        return 3, Card(kind="HyperPod subnet", name=cidr, lines=("nodes and pods", *lines))
    return 2, Card(kind="Private subnet", name=cidr, lines=lines)


def _default_route(subnet: Resource, around: Surroundings) -> Mapping[str, object]:
    tables = {
        address
        for association in around.of_type("AWS::EC2::SubnetRouteTableAssociation")
        if subnet.address in association.needs
        for address in association.needs
        if address != subnet.address
    }
    for route in around.of_type("AWS::EC2::Route"):
        if tables.intersection(route.needs):
            return route.properties
    return {}


def _way_out(subnet: Resource, route: Mapping[str, object], around: Surroundings) -> str:
    stack = around.stack
    for nat in around.of_type("AWS::EC2::NatGateway"):
        if route.get("NatGatewayId") == {"Ref": nat.address.logical_id}:
            subnets = [stack.resources[name] for name in nat.needs]
            zone = next(_zone(item) for item in subnets if item.type == "AWS::EC2::Subnet")
            elsewhere = "" if zone == _zone(subnet) else f" in zone {zone}"
            return f"out through the NAT gateway{elsewhere}"
    return "no route to the internet"


def _zone(subnet: Resource) -> str:
    properties = subnet.properties
    zone = properties.get("AvailabilityZoneId", properties.get("AvailabilityZone"))
    match zone:
        case {"Fn::Select": [index, {"Fn::GetAZs": _}]}:
            return str(int(index) + 1)
        case _:
            return text(zone)


def security_group_card(group: Resource, around: Surroundings) -> Card:
    """Return the card of a security group."""
    rules = around.of_type("AWS::EC2::SecurityGroupIngress")
    inbound = [text(rule.properties.get("Description", "")) for rule in rules]
    return Card(
        kind="Security group",
        lines=(
            text(group.properties["GroupDescription"]),
            f"in, from itself: {'; '.join(sorted(set(inbound)))}",
        ),
    )
