"""What CloudFormation creates before what: inside a stack by references, and stack after stack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.aws.assembly import (
    CDK_METADATA,
    Address,
    construct_paths,
    stacks_by_name,
    stacks_in,
)
from hyperpod_cli.inspect.critical_path.durations import STACK


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The resources of a deployment, and the start of each of its stacks.

    Attributes:
        types: The resource type of each.
        names: The path of its construct in its stack; its logical ID if the template has no paths.
        needs: What must be there before it, directly.
    """

    types: Mapping[Address, str]
    names: Mapping[Address, str]
    needs: Mapping[Address, frozenset[Address]]

    @property
    def stacks(self) -> list[str]:
        """The names of the stacks."""
        return [address.stack for address in self.types if address == start_of(address.stack)]

    def of_type(self, resource_type: str) -> list[Address]:
        """Return the resources of a type."""
        return [address for address, found in self.types.items() if found == resource_type]

    def before(self, address: Address, *, across_stacks: bool = True) -> frozenset[Address]:
        """Return all that must be there before a resource.

        Args:
            address: The resource.
            across_stacks: Whether a stack's start needs the stacks before it. Without, only what
                is referred to counts.
        """
        pending, seen = [address], set[Address]()
        while pending:
            current = pending.pop()
            if not across_stacks and self.types[current] == STACK:
                continue
            new = self.needs[current] - seen
            seen |= new
            pending += new
        return frozenset(seen)


def start_of(stack: str) -> Address:
    """Return what stands for the start of a stack: its change set."""
    return Address(stack, "")


def read_graph(assembly: Path) -> Graph:
    """Read the graph of what was synthesized into a directory.

    Raises:
        OSError: There is no manifest or template.
    """
    resources = {
        address: resource
        for stack in stacks_by_name(assembly)
        for address, resource in stack.resources.items()
        if resource.type != CDK_METADATA
    }
    types = {address: resource.type for address, resource in resources.items()}
    needs = {
        address: frozenset({*resource.needs, start_of(address.stack)})
        for address, resource in resources.items()
    }
    names = {address: address.logical_id for address in resources}
    for stack in stacks_in(assembly):
        start = start_of(stack.name)
        types[start] = STACK
        needs[start] = frozenset(_resources_of(stack.needs, resources))
        paths = construct_paths(stack.template)
        names |= {Address(stack.name, logical_id): path for logical_id, path in paths.items()}
        names[start] = "change set"
    return Graph(types=types, names=names, needs=needs)


def _resources_of(stacks: Iterable[str], resources: Iterable[Address]) -> list[Address]:
    wanted = set(stacks)
    return [address for address in resources if address.stack in wanted]
