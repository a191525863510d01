"""How long CloudFormation takes for changes, at the most: an update counts as a creation."""

from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path

from hyperpod_cli.aws.assembly import CDK_METADATA, Address, stacks_in
from hyperpod_cli.inspect.resource_types import STACK, resource_type

_MINUTE = 60


def minutes(assembly: Path, changed: Collection[Address]) -> int:
    """Return how many minutes the changes of resources take, rounded up.

    A resource starts once all that it needs is there, and a stack once those are that it needs.
    """
    stacks = stacks_in(assembly)
    # The empty logical ID stands for the start of a stack: its change set.
    types = {Address(stack.name, ""): STACK for stack in stacks}
    needs: dict[Address, set[Address]] = {}
    for stack in stacks:
        start = Address(stack.name, "")
        for address, resource in stack.resources.items():
            if resource.type != CDK_METADATA:
                types[address] = resource.type
                needs[address] = {*resource.needs, start}
    for stack in stacks:
        needs[Address(stack.name, "")] = {other for other in types if other.stack in stack.needs}
    changed = {*changed, *(Address(other.stack, "") for other in changed)}
    ends: dict[Address, int] = {}
    for address in TopologicalSorter(needs).static_order():
        begins = max((ends[need] for need in needs[address]), default=0)
        takes = resource_type(types[address]).seconds if address in changed else 0
        ends[address] = begins + takes
    return -(-max(ends.values(), default=0) // _MINUTE)
