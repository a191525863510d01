"""What the picture says of a network: one that a stack makes, or one that exists."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hyperpod_cli.aws.assembly import Address, Stack, TemplateResource, text
from hyperpod_cli.inspect.diagram.card import Card, Column, Surroundings

EXISTING = "Existing"
"""The one property of such a resource: its id."""

_TYPES = {
    "vpc": "AWS::EC2::VPC",
    "subnet": "AWS::EC2::Subnet",
    "sg": "AWS::EC2::SecurityGroup",
}
_ID = re.compile(r"\b(vpc|subnet|sg)-[0-9a-f]{8}(?:[0-9a-f]{9})?\b")


def with_existing(stacks: list[Stack]) -> list[Stack]:
    """Return stacks with the VPC that one of them names, and with its subnets and groups.

    They are shown in the stack whose parameters name the VPC; without such a VPC, what is named is
    in a VPC that a stack makes.
    """
    for home in stacks:
        parameters = json.dumps(home.template.get("Parameters", {}))
        for found in _ID.finditer(parameters):
            if found[1] == "vpc":
                vpc = Address(home.name, found[0])
                return [
                    _with_existing(stack, home=home, vpc=vpc, stacks=stacks) for stack in stacks
                ]
    return stacks


def _with_existing(stack: Stack, *, home: Stack, vpc: Address, stacks: list[Stack]) -> Stack:
    resources = {
        address: replace(item, needs=tuple(sorted({*item.needs, *_named(item, home=home.name)})))
        for address, item in stack.resources.items()
    }
    if stack is home:
        named = {
            address
            for each in stacks
            for item in each.resources.values()
            for address in _named(item, home=home.name)
        }
        for address in sorted({vpc, *named}):
            kind = _TYPES[address.logical_id.partition("-")[0]]
            resources[address] = TemplateResource(
                address=address,
                type=kind,
                properties={EXISTING: address.logical_id},
                deletion_policy="",
                needs=() if address == vpc else (vpc,),
            )
    return replace(stack, shown=resources)


def _named(item: TemplateResource, *, home: str) -> Iterator[Address]:
    for found in _ID.finditer(json.dumps(item.properties)):
        yield Address(home, found[0])


_TABLE = "RouteTable"
_AS_IT_IS = "In the zones that they are in"


def vpc_card(vpc: TemplateResource, around: Surroundings) -> Card:
    """Return the card of a VPC, with its subnets by zone."""
    blocks = [
        text(block.properties["CidrBlock"]) for block in around.of_type("AWS::EC2::VPCCidrBlock")
    ]
    endpoints = [
        f"{text(item.properties['ServiceName']).rpartition('.')[2].upper()} endpoint"
        for item in around.of_type("AWS::EC2::VPCEndpoint")
    ]
    firewall = around.of_type("AWS::Route53Resolver::FirewallRuleGroupAssociation")
    if firewall:
        endpoints.append("DNS Firewall")
    logs = ["flow log"] if around.of_type("AWS::EC2::FlowLog") else []
    gateways = ["internet gateway"] if around.of_type("AWS::EC2::VPCGatewayAttachment") else []
    zones: dict[str, list[tuple[int, Card]]] = {}
    for subnet in around.of_type("AWS::EC2::Subnet"):
        zones.setdefault(_zone(subnet), []).append(_subnet(subnet, around))
    existing = vpc.properties.get(EXISTING)
    return Card(
        kind="VPC" if existing is None else "Existing VPC",
        name=" + ".join([text(existing or vpc.properties["CidrBlock"]), *blocks]),
        lines=(", ".join([*gateways, *endpoints, *logs]),),
        columns=tuple(
            Column(
                title=zone if zone == _AS_IT_IS else f"Availability Zone {zone}",
                cards=tuple(item for _, item in sorted(cards, key=lambda entry: entry[0])),
            )
            for zone, cards in sorted(zones.items())
        ),
    )


def _subnet(subnet: TemplateResource, around: Surroundings) -> tuple[int, Card]:
    """Return a subnet's place from the top in its zone, and its card."""
    nats = [item for item in around.of_type("AWS::EC2::NatGateway") if subnet.address in item.needs]
    eks = [
        item for item in around.stack.of_type("AWS::EKS::Cluster") if subnet.address in item.needs
    ]
    existing = subnet.properties.get(EXISTING)
    lines: tuple[str, ...] = ()
    kind, name = ("Existing ", existing) if existing else ("", subnet.properties["CidrBlock"])
    if existing is None:
        route = _default_route(subnet, around)
        if "GatewayId" in route:
            at_nat = ("NAT gateway",) if nats else ()
            return 0, Card(kind="Public subnet", name=text(name), lines=at_nat)
        lines = (_way_out(subnet, route, around),)
    if eks:
        return 1, Card(kind=f"{kind}EKS subnet", name=text(name), lines=lines)
    if subnet.address in around.hyperpod_subnets:
        own = (around.in_subnets, *lines)
        return 3, Card(kind=f"{kind}HyperPod subnet", name=text(name), lines=own)
    return 2, Card(
        kind="Existing subnet" if existing else "Private subnet", name=text(name), lines=lines
    )


def _default_route(subnet: TemplateResource, around: Surroundings) -> Mapping[str, object]:
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
    for association in around.of_type("AWS::EC2::SubnetRouteTableAssociation"):
        table = association.properties["RouteTableId"]
        if subnet.address in association.needs and isinstance(table, str):
            return {_TABLE: table}
    return {}


def _way_out(subnet: TemplateResource, route: Mapping[str, object], around: Surroundings) -> str:
    stack, target = around.stack, route.get("NatGatewayId")
    existing = target if isinstance(target, str) else route.get(_TABLE)
    if existing is not None:
        return f"out through existing {existing}"
    for nat in around.of_type("AWS::EC2::NatGateway"):
        if route.get("NatGatewayId") == {"Ref": nat.address.logical_id}:
            subnets = [stack.resources[name] for name in nat.needs]
            zone = next(_zone(item) for item in subnets if item.type == "AWS::EC2::Subnet")
            elsewhere = "" if zone == _zone(subnet) else f" in zone {zone}"
            return f"out through the NAT gateway{elsewhere}"
    return "no route to the internet"


def _zone(subnet: TemplateResource) -> str:
    properties = subnet.properties
    if EXISTING in properties:
        return _AS_IT_IS
    zone = properties.get("AvailabilityZoneId", properties.get("AvailabilityZone"))
    match zone:
        case {"Fn::Select": [index, {"Fn::GetAZs": _}]}:
            return str(int(index) + 1)
        case _:
            return text(zone)


def security_group_card(group: TemplateResource, around: Surroundings) -> Card:
    """Return the card of a security group."""
    rules = around.of_type("AWS::EC2::SecurityGroupIngress")
    inbound = [text(rule.properties.get("Description", "")) for rule in rules]
    existing = group.properties.get(EXISTING)
    if existing is not None:
        added = (f"in, from itself, added: {'; '.join(inbound)}",) if inbound else ()
        return Card(kind="Existing security group", name=text(existing), lines=added)
    members = text(group.properties["GroupDescription"])
    return Card(
        kind="Security group",
        lines=(
            # It cannot change once a HyperPod cluster comes or goes.
            members if around.hyperpod_subnets else members.replace("HyperPod nodes", "nodes"),
            f"in, from itself: {'; '.join(sorted(set(inbound)))}",
        ),
    )
