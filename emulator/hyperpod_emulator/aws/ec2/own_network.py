"""Networks that a configuration names get the ids that it has.

Subnets and security groups in the VPC that a deployment makes are made by their owner between two
deployments. Here they are made before it, and move into the VPC when CloudFormation makes it, and
out of it before it is deleted. Their owner gives the subnets a way out, too: here the VPC's main
route table, which they use, gets the first route to a NAT gateway.
"""

from collections.abc import Callable, Iterator, MutableMapping
from contextvars import ContextVar
from functools import partial
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, check_deletion
from hyperpod_emulator.aws.ministack import Query, Response, ec2, provisioners, wrap
from hyperpod_emulator.aws.settings import NETWORK_ID

_chosen: ContextVar[str] = ContextVar("chosen", default="")


def chosen_id(query: Query) -> str:
    """Return the id that a creation's first tag chooses, or ""."""
    # Of a capacity reservation the name is a plural.
    for tag in ("TagSpecification.1.Tag.1", "TagSpecifications.1.Tag.1"):
        if query.get(f"{tag}.Key") == [NETWORK_ID]:
            return query[f"{tag}.Value"][0]
    return ""


def _or_new(prefix: str, new: Callable[[], str]) -> Callable[[], str]:
    """Return what draws an id, but for the chosen one of that kind: a VPC brings a group along."""

    def chosen_or_new() -> str:
        chosen = _chosen.get()
        return chosen if chosen.startswith(prefix) else new()

    return chosen_or_new


def _create_and_rename(
    store: MutableMapping[str, dict[str, Any]],
    key: str,
    create: Callable[[Query], Response],
    query: Query,
) -> Response:
    """Give a chosen id to what an action creates under one that it draws itself."""
    before = set(store)
    status, headers, body = create(query)
    chosen = chosen_id(query)
    for drawn in set(store) - before if chosen else ():
        store[chosen] = {**store.pop(drawn), key: chosen}
        ec2._tags[chosen] = ec2._tags.pop(drawn, [])
        body = body.replace(drawn.encode(), chosen.encode())
    return status, headers, body


def _create_with_chosen_id(create: Callable[[Query], Response], query: Query) -> Response:
    token = _chosen.set(chosen_id(query))
    try:
        return create(query)
    finally:
        _chosen.reset(token)


def _own() -> Iterator[dict[str, Any]]:
    for store in (ec2._subnets, ec2._security_groups):
        for identifier, record in store.items():
            if any(tag["Key"] == NETWORK_ID for tag in ec2._tags.get(identifier, [])):
                yield record


def _move(vpc_id: str) -> None:
    for record in _own():
        record["VpcId"] = vpc_id


def _lead_out(properties: Properties) -> None:
    """Give the main route table of a VPC with such subnets a route to a NAT gateway as well."""
    vpc_id = ec2._route_tables[properties["RouteTableId"]]["VpcId"]
    if "NatGatewayId" not in properties or all(each["VpcId"] != vpc_id for each in _own()):
        return
    for table in ec2._route_tables.values():
        is_main = any(each.get("Main") for each in table["Associations"])
        if is_main and table["VpcId"] == vpc_id and not _has_way_out(table):
            table["Routes"].append(
                {
                    "DestinationCidrBlock": properties["DestinationCidrBlock"],
                    "NatGatewayId": properties["NatGatewayId"],
                    "State": "active",
                    "Origin": "CreateRoute",
                }
            )


def _has_way_out(table: dict[str, Any]) -> bool:
    return any("NatGatewayId" in route for route in table["Routes"])


def install() -> None:
    """Give chosen ids, and move what has one with the VPC; after `network_dependencies`."""
    ec2._new_subnet_id = _or_new("subnet-", ec2._new_subnet_id)
    ec2._new_sg_id = _or_new("sg-", ec2._new_sg_id)
    ec2._new_vpc_id = _or_new("vpc-", ec2._new_vpc_id)
    ec2._new_igw_id = _or_new("igw-", ec2._new_igw_id)
    for action in ("CreateSubnet", "CreateSecurityGroup", "CreateVpc", "CreateInternetGateway"):
        wrap(ec2._ACTION_MAP, action, _create_with_chosen_id)
    for action, store, key in (
        ("CreateRouteTable", ec2._route_tables, "RouteTableId"),
        ("CreateNatGateway", ec2._nat_gateways, "NatGatewayId"),
    ):
        wrap(ec2._ACTION_MAP, action, partial(_create_and_rename, store, key))
    handlers = provisioners._RESOURCE_HANDLERS
    wrap(handlers["AWS::EC2::VPC"], "create", _create_vpc)
    check_deletion("AWS::EC2::VPC", lambda _vpc_id: _move(ec2._DEFAULT_VPC_ID))
    wrap(handlers["AWS::EC2::Route"], "create", _create_route)


def _create_vpc(create: Callable[..., Created], *vpc: Any) -> Created:
    created = create(*vpc)
    _move(created[0])
    return created


def _create_route(
    create: Callable[..., Created], logical_id: str, properties: Properties, stack: str
) -> Created:
    created = create(logical_id, properties, stack)
    _lead_out(properties)
    return created
