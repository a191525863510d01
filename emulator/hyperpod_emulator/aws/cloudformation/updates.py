"""Updates of stacks: replacements as the resource schemas say.

- MiniStack knows the create-only properties of some types; the schemas know those of all. It
  creates a replacement first and deletes the old resource in the cleanup, as AWS does:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
- A resource that is new in an update is being created; MiniStack's events say that it is updated:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
- What an update replaced or removed is deleted while the stack is in
  UPDATE_COMPLETE_CLEANUP_IN_PROGRESS, with events of the resource; MiniStack's deletion is silent.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from aws_reference.resource_schemas import schema_of
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties
from hyperpod_emulator.aws.ministack import (
    cloudformation,
    provisioners,
    stacks,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused

_CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
_DeletedFirst = dict[tuple[str, str], tuple[str, Mapping[str, Any]]]


def install() -> None:
    """Decide by the schemas what is replaced, what is refused and what is valid."""
    _Replacements().install()
    wrap(stacks, "_delete_resource", _delete_resource)


class _Replacements:
    """MiniStack's decisions, with the schemas' in front of them."""

    def __init__(self) -> None:
        self._provision: Callable[..., Created] = provisioners._provision_resource
        self._update: Callable[..., Created] = provisioners._update_resource
        self._replace: Callable[..., Created] = provisioners._replace_resource
        self._replacing = provisioners._replacing_change
        self._refusal: Callable[..., str | None] = provisioners._custom_named_replacement_error
        self._recreation = provisioners._property_recreation
        self._roll_back = stacks._roll_back_operation
        self._add_event = stacks._add_event
        # By stack's and logical id: what an update creates, until an event says how that ended.
        self._new: set[tuple[str, str]] = set()
        # By stack and logical id: type and properties of what a `delete_then_create` replacement
        # deleted, for a rollback to create again.
        self._deleted_first: _DeletedFirst = {}

    def install(self) -> None:
        """Take the places of MiniStack's functions."""
        stacks._provision_resource = self._checked_provision
        stacks._update_resource = self._checked_update
        provisioners._replace_resource = self._replaced
        # Each module has its own name for these two.
        provisioners._replacing_change = stacks._replacing_change = self._is_replacing
        provisioners._custom_named_replacement_error = self._refused
        stacks._custom_named_replacement_error = self._refused
        # Which change sets show, and so `cdk diff`.
        provisioners._property_recreation = stacks._property_recreation = self._recreated
        stacks._roll_back_operation = self._rolled_back
        stacks._add_event = self._event_added

    def _event_added(
        self,
        stack_id: str,
        stack_name: str,
        logical_id: str,
        resource_type: str,
        status: str,
        *rest: Any,
        **options: Any,
    ) -> None:
        key = (stack_id, logical_id)
        known = cloudformation._stacks.get(stack_name, {}).get("_resources", {})
        is_stack = resource_type == "AWS::CloudFormation::Stack" and logical_id == stack_name
        if status == "UPDATE_IN_PROGRESS" and not is_stack and logical_id not in known:
            self._new.add(key)
        if key in self._new and status.startswith("UPDATE_"):
            status = status.replace("UPDATE", "CREATE", 1)
            if not status.endswith("_IN_PROGRESS"):
                self._new.discard(key)
        self._add_event(stack_id, stack_name, logical_id, resource_type, status, *rest, **options)

    def _checked_provision(
        self, resource_type: str, logical_id: str, properties: Properties, *rest: Any
    ) -> Created:
        _require_valid(resource_type, logical_id, properties)
        _require_free_name(resource_type, properties)
        return self._provision(resource_type, logical_id, properties, *rest)

    def _checked_update(  # noqa: PLR0917 - MiniStack's signature
        self,
        resource_type: str,
        physical_id: str,
        old: Properties,
        new: Properties,
        stack_name: str,
        logical_id: str,
        *rest: Any,
    ) -> Created:
        _require_valid(resource_type, logical_id, new)
        return self._update(resource_type, physical_id, old, new, stack_name, logical_id, *rest)

    def _is_replacing(self, resource_type: str, old: Properties, new: Properties) -> bool:
        schema = schema_of(resource_type)
        if schema is None:
            return bool(self._replacing(resource_type, old, new))
        return bool(schema.replacing(old, new))

    def _refused(
        self,
        resource_type: str,
        old: Properties,
        new: Properties,
        physical_id: str | None = None,
    ) -> str | None:
        schema = schema_of(resource_type)
        if schema is None:
            return self._refusal(resource_type, old, new, physical_id)
        return schema.replacement_problem(old, new, physical_id=physical_id)

    def _recreated(self, resource_type: str, name: str) -> str:
        schema = schema_of(resource_type)
        if schema is None:
            return str(self._recreation(resource_type, name))
        if (name,) in schema.create_only:
            return "Always"
        nested = (*schema.create_only, *schema.conditionally_create_only)
        return "Conditionally" if any(path[0] == name for path in nested) else "Never"

    def _replaced(  # noqa: PLR0917 - MiniStack's signature
        self,
        resource_type: str,
        physical_id: str,
        old: Properties,
        new: Properties,
        stack_name: str,
        logical_id: str,
    ) -> Created:
        schema = schema_of(resource_type)
        retained = provisioners._RETAIN_REPLACED.get()
        if schema is not None and schema.deletes_first and not retained:
            provisioners._delete_resource(resource_type, physical_id, old, stack_name, logical_id)
            self._deleted_first[stack_name, logical_id] = (resource_type, old)
        return self._replace(resource_type, physical_id, old, new, stack_name, logical_id)

    async def _rolled_back(
        self,
        stack_name: str,
        stack_id: str,
        stack: dict[str, Any],
        operation: dict[str, Any],
        **options: Any,
    ) -> None:
        await self._roll_back(stack_name, stack_id, stack, operation, **options)
        touched = {*operation.get("created", ()), operation.get("failed_logical_id")}
        for key in [key for key in self._deleted_first if key[0] == stack_name]:
            resource_type, properties = self._deleted_first.pop(key)
            if key[1] not in touched:
                # Deleted by an earlier update, which succeeded.
                continue
            physical_id, attributes = self._provision(resource_type, key[1], properties, stack_name)
            stack["_resources"][key[1]] |= {
                "PhysicalResourceId": physical_id,
                "Attributes": attributes,
            }


def _delete_resource(  # noqa: PLR0917 - MiniStack's signature
    delete: Callable[..., None],
    resource_type: str,
    physical_id: str,
    properties: Properties,
    stack_name: str,
    logical_id: str,
) -> None:
    """Delete a resource; in the cleanup of an update, say so in events."""
    stack = cloudformation._stacks.get(stack_name, {})
    status = stack.get("StackStatus")
    if status == "UPDATE_IN_PROGRESS":
        status = stack["StackStatus"] = _CLEANUP
        of_stack = (stack_name, "AWS::CloudFormation::Stack", _CLEANUP)
        stacks._add_event(stack["StackId"], stack_name, *of_stack, physical_id=stack["StackId"])
    resource = (resource_type, physical_id, properties, stack_name, logical_id)
    if status != _CLEANUP:
        delete(*resource)
        return
    event = partial(stacks._add_event, stack["StackId"], stack_name, logical_id, resource_type)
    event("DELETE_IN_PROGRESS", physical_id=physical_id)
    delete(*resource)
    event("DELETE_COMPLETE", physical_id=physical_id)


def _require_valid(resource_type: str, logical_id: str, properties: Properties) -> None:
    schema = schema_of(resource_type)
    problems = [] if schema is None else schema.problems(properties)
    if problems:
        raise Refused(
            f"Properties validation failed for resource {logical_id} with message: "
            + " ".join(problems)
        )


def _require_free_name(resource_type: str, properties: Properties) -> None:
    """Check that no stack has a resource of this name, under another logical id perhaps.

    CloudFormation creates what an update adds before it deletes what the update removes.
    """
    schema = schema_of(resource_type)
    name = None if schema is None else schema.given_name(properties)
    for stack in cloudformation._stacks.values() if name else ():
        for resource in stack.get("_resources", {}).values():
            if (resource["ResourceType"], resource["PhysicalResourceId"]) == (resource_type, name):
                # https://repost.aws/knowledge-center/cloudformation-resource-already-exists
                raise Refused(f"{name} already exists in stack {stack['StackId']}")
