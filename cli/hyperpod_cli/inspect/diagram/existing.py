"""What templates name of a network that exists, as resources beside their own."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from hyperpod_cli.aws.assembly import Address, Resource, Stack

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

    Args:
        stacks: The stacks.
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
        address: Resource(
            address=address,
            type=item.type,
            properties=item.properties,
            deletion_policy=item.deletion_policy,
            needs=tuple(sorted({*item.needs, *_named(item, home=home.name)})),
        )
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
            resources[address] = Resource(
                address=address,
                type=kind,
                properties={EXISTING: address.logical_id},
                deletion_policy="",
                needs=() if address == vpc else (vpc,),
            )
    return replace(stack, shown=resources)


def _named(item: Resource, *, home: str) -> Iterator[Address]:
    for found in _ID.finditer(json.dumps(item.properties)):
        yield Address(home, found[0])
