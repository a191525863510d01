"""What a deployment did to each resource, read from CloudFormation before and after it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

from hyperpod_cli.aws.assembly import CDK_METADATA, construct_paths
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import deployed, resources_of
from hyperpod_cli.inspect.resource_types import resource_type
from hyperpod_emulator.aws.local_aws import AwsClients

Key = tuple[str, str]
"""Stack and logical ID."""


class ChangeAction(StrEnum):
    """What became of a resource."""

    CREATED = auto()
    UPDATED = auto()
    REPLACED = auto()
    DELETED = auto()
    KEPT = auto()
    """It left its stack, and is still there."""


@dataclass(frozen=True, order=True, slots=True)
class ResourceChange:
    """What became of a resource; its name is the path of its construct, if the template has it.

    It `holds_data` if its replacement or deletion loses data, or the work of a cluster.
    """

    stack: str
    action: ChangeAction
    type: str
    logical_id: str
    name: str
    holds_data: bool = False

    @property
    def loses(self) -> bool:
        """Whether data or work is lost."""
        return self.holds_data and self.action in (ChangeAction.REPLACED, ChangeAction.DELETED)

    @property
    def mark(self) -> str:
        """What ends the line about it."""
        return ", and what it holds is lost" if self.loses else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """Stacks at one moment: statuses, and physical ID, type and construct path of each resource.

    The properties have physical IDs in the place of references.
    """

    statuses: Mapping[str, str]
    resources: Mapping[Key, tuple[str, str]]
    properties: Mapping[Key, object]
    names: Mapping[Key, str]


def snapshot(clients: AwsClients, stacks: Iterable[str]) -> Snapshot:
    """Return stacks as they are; one that is not there has nothing."""
    client = clients("cloudformation")
    there = {name: stack for name in stacks if (stack := deployed(client, name)) is not None}
    resources = {
        (name, resource.logical_id): (resource.physical_id, resource.type)
        for name in there
        for resource in resources_of(client, name)
        if resource.type != CDK_METADATA
    }
    references = _References(
        templates={name: stack.template for name, stack in there.items()},
        parameters={name: stack.parameters for name, stack in there.items()},
        resources=resources,
    )
    return Snapshot(
        statuses={name: stack.status for name, stack in there.items()},
        resources=resources,
        properties={key: references.properties(key) for key in resources},
        names={
            (name, logical_id): path
            for name, stack in there.items()
            if stack.template
            for logical_id, path in construct_paths(stack.template).items()
        },
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _References:
    """Puts what is there in the place of references, so that another thing is another value."""

    templates: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, Mapping[str, str]]
    resources: Mapping[Key, tuple[str, str]]

    def properties(self, key: Key) -> object:
        stack, logical_id = key
        definition = self.templates[stack].get("Resources", {}).get(logical_id, {})
        return self._resolved(definition.get("Properties", {}), stack)

    def _resolved(self, node: object, stack: str) -> object:
        match node:
            case {"Ref": str(name)}:
                return self._named(name, stack)
            case {"Fn::GetAtt": [str(name), attribute]}:
                return f"{self._named(name, stack)}.{attribute}"
            case {"Fn::ImportValue": name}:
                return self._exported(str(name))
            case Mapping():
                return {key: self._resolved(value, stack) for key, value in node.items()}
            case list():
                return [self._resolved(value, stack) for value in node]
        return node

    def _named(self, name: str, stack: str) -> str:
        if (stack, name) in self.resources:
            return self.resources[stack, name][0]
        return self.parameters[stack].get(name, name)

    def _exported(self, name: str) -> object:
        for stack, template in self.templates.items():
            for output in template.get("Outputs", {}).values():
                if output.get("Export", {}).get("Name") == name:
                    return self._resolved(output["Value"], stack)
        return name


def changes(
    before: Snapshot, after: Snapshot, *, events: Mapping[str, Sequence[StackEvent]]
) -> list[ResourceChange]:
    """Return what a deployment, with its events by stack, did to each resource that is another."""
    skipped = {
        (stack, event.logical_id)
        for stack, of_stack in events.items()
        for event in of_stack
        if event.status == "DELETE_SKIPPED"
    }
    changed = []
    for key in before.resources.keys() | after.resources.keys():
        was, now = before.resources.get(key), after.resources.get(key)
        action = None
        if was is None:
            action = ChangeAction.CREATED
        elif now is None:
            action = ChangeAction.KEPT if key in skipped else ChangeAction.DELETED
        elif was != now:
            action = ChangeAction.REPLACED
        elif before.properties[key] != after.properties[key]:
            action = ChangeAction.UPDATED
        resource = was if now is None else now
        if action is not None and resource is not None:
            names = before.names if now is None else after.names
            changed.append(
                ResourceChange(
                    stack=key[0],
                    action=action,
                    type=resource[1],
                    logical_id=key[1],
                    name=names.get(key, key[1]),
                    holds_data=resource_type(resource[1]).holds_data,
                )
            )
    return sorted(changed)


def steps(
    changes: Iterable[ResourceChange], *, events: Mapping[str, Sequence[StackEvent]]
) -> list[ResourceChange]:
    """Return the changes that CloudFormation makes before it cleans up, in the order it did."""
    done = {
        (stack, event.logical_id): event.time
        for stack, of_stack in events.items()
        for event in of_stack
        if event.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE")
    }
    made = [
        item for item in changes if item.action not in (ChangeAction.DELETED, ChangeAction.KEPT)
    ]
    timed = [change for change in made if (change.stack, change.logical_id) in done]
    return sorted(timed, key=lambda change: done[change.stack, change.logical_id])
