"""Subnets and security groups that a configuration names, in the VPC that its deployment makes.

Their owner makes them in that VPC between two deployments. Here they are made before it, and move
into the VPC when CloudFormation makes it, and out of it before it is deleted.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from ministack.services import ec2
from ministack.services.cloudformation import provisioners

from rehearsal.aws.chosen_ids import NETWORK_ID
from rehearsal.aws.cloudformation.resource_type import Created, Properties

_VPC = "AWS::EC2::VPC"
_Query = dict[str, list[str]]
_Response = tuple[int, dict[str, str], bytes]
_chosen: ContextVar[str] = ContextVar("chosen", default="")


def _chosen_id(query: _Query) -> str:
    """Return the id that a creation's first tag chooses, or ""."""
    tag = "TagSpecification.1.Tag.1"
    chosen = query.get(f"{tag}.Key") == [NETWORK_ID]
    return query[f"{tag}.Value"][0] if chosen else ""


def _with_chosen_id(action: str) -> None:
    create: Callable[[_Query], _Response] = ec2._ACTION_MAP[action]

    def create_with_chosen_id(query: _Query) -> _Response:
        token = _chosen.set(_chosen_id(query))
        try:
            return create(query)
        finally:
            _chosen.reset(token)

    ec2._ACTION_MAP[action] = create_with_chosen_id


def _own() -> Iterator[dict[str, Any]]:
    for store in (ec2._subnets, ec2._security_groups):
        for identifier, record in store.items():
            if any(tag["Key"] == NETWORK_ID for tag in ec2._tags.get(identifier, [])):
                yield record


def _move(vpc_id: str) -> None:
    for record in _own():
        record["VpcId"] = vpc_id


def install() -> None:
    """Give chosen ids, and move what has one with the VPC; after `network_dependencies`."""
    new_subnet_id, new_group_id = ec2._new_subnet_id, ec2._new_sg_id
    ec2._new_subnet_id = lambda: _chosen.get() or new_subnet_id()
    ec2._new_sg_id = lambda: _chosen.get() or new_group_id()
    for action in ("CreateSubnet", "CreateSecurityGroup"):
        _with_chosen_id(action)
    handlers = provisioners._RESOURCE_HANDLERS[_VPC]
    create_vpc, delete_vpc = handlers["create"], handlers["delete"]

    def create(logical_id: str, properties: Properties, stack_name: str) -> Created:
        created: Created = create_vpc(logical_id, properties, stack_name)
        _move(created[0])
        return created

    def delete(vpc_id: str, properties: Properties) -> None:
        _move(ec2._DEFAULT_VPC_ID)
        delete_vpc(vpc_id, properties)

    handlers["create"], handlers["delete"] = create, delete
