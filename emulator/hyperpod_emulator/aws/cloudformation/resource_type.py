"""Add a CloudFormation resource type to MiniStack."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.aws.ministack import provisioners, stacks, wrap

Properties = Mapping[str, Any]
Created = tuple[str, dict[str, Any]]
"""A physical id (what `Ref` gives) and the attributes (what `Fn::GetAtt` gives)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One type and its handlers.

    Attributes:
        name: The type, `AWS::Service::Resource`.
        create: Called with the properties.
        update: Called with the physical id, the old and the new properties, when nothing
            create-only changed (`resource_schemas.py`).
        delete: Called with the physical id and the properties; a resource already gone is fine.
            Default: there is nothing to delete.
        tagged: Whether the stack's tags are merged into the property `Tags`.
        waits: Whether handlers wait for something, and so get a thread of their own; the others
            only touch state in this process.
    """

    name: str
    create: Callable[[Properties], Created]
    delete: Callable[[str, Properties], None] = lambda _physical_id, _properties: None
    update: Callable[[str, Properties, Properties], Created] | None = None
    tagged: bool = True
    waits: bool = False

    def register(self) -> None:
        """Make the type known to MiniStack's CloudFormation."""
        handlers: dict[str, Any] = {
            "create": lambda _logical_id, properties, _stack: self.create(properties),
            "delete": self.delete,
        }
        if self.update is not None:
            update = self.update
            handlers["update"] = lambda physical_id, old, new, _stack: update(physical_id, old, new)
        provisioners._RESOURCE_HANDLERS[self.name] = handlers
        if self.tagged:
            provisioners._STACK_TAG_PROPERTY[self.name] = ("Tags", "list")
        if self.waits:
            run_in_thread(self.name)


def check_creation(resource_type: str, check: Callable[[Properties], None]) -> None:
    """Have the properties of what MiniStack's handler creates looked at first."""

    def create(
        unchecked: Callable[..., Created], logical_id: str, properties: Properties, stack: str
    ) -> Created:
        check(properties)
        return unchecked(logical_id, properties, stack)

    wrap(provisioners._RESOURCE_HANDLERS[resource_type], "create", create)


def check_deletion(resource_type: str, check: Callable[[str], None]) -> None:
    """Have the physical id of what MiniStack's handler deletes looked at first."""

    def delete(unchecked: Any, physical_id: str, properties: Properties) -> None:  # noqa: ANN401 - MiniStack's
        check(physical_id)
        unchecked(physical_id, properties)

    wrap(provisioners._RESOURCE_HANDLERS[resource_type], "delete", delete)


def run_in_thread(*names: str) -> None:
    """Let the handlers of resource types run in a thread of their own."""
    others = stacks._runs_on_worker_thread
    stacks._runs_on_worker_thread = lambda name: name in names or others(name)


def tag_map(properties: Properties) -> dict[str, str]:
    """Return the property `Tags`, a list of Key and Value, as a dictionary."""
    return dict(provisioners._tag_map(properties.get("Tags")))


def boolean(value: object) -> bool:
    """Read a template boolean, which may have become a string on the way."""
    return bool(provisioners._cfn_bool(value))
