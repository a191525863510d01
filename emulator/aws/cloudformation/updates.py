"""Updates of stacks: replacements as the resource schemas say, cancellations, failed rollbacks.

A step can be made to fail (`install_failing_step`). Otherwise:

- MiniStack knows the create-only properties of some types; the schemas know those of all. It
  creates a replacement first and deletes the old resource in the cleanup, as AWS does:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
- MiniStack looks for a cancellation before each resource, and misses a later one. CloudFormation
  takes it as long as the stack is UPDATE_IN_PROGRESS:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
- A custom resource whose creation failed is deleted in the rollback. MiniStack forgets it, so what
  a handler half made, or kept on purpose, would never get its Delete.
- Resources whose rollback failed say so, and stay in their stack until they are skipped. MiniStack
  shows what they were before, and forgets those of a creation. Custom resources stay forgotten:
  its rollback goes on, and deletes the rights that their own deletion would take.
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
- A resource that is new in an update is being created; MiniStack's events say that it is updated:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
- What a resource that was not deleted depends on is not deleted either: "retains dependencies of
  those resources", where MiniStack goes on with everything:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-delete-stack.html
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aws_reference.resource_schemas import schema_of
from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.ministack import (
    cloudformation,
    custom_resource,
    handlers,
    provisioners,
    responses,
    stacks,
)
from emulator.aws.settings import FailingStep, Settings

_REHEARSED = "Internal failure, which is rehearsed"
_DeletedFirst = dict[tuple[str, str], tuple[str, Mapping[str, Any]]]


def install_replacement() -> None:
    """Decide by the schemas what is replaced, what is refused and what is valid."""
    _Replacements().install()


class _Replacements:
    """MiniStack's decisions, with the schemas' in front of them."""

    def __init__(self) -> None:
        self._provision: Callable[..., Created] = provisioners.provision_resource
        self._update: Callable[..., Created] = provisioners.update_resource
        self._replace: Callable[..., Created] = provisioners.replace_resource
        self._replacing = provisioners.replacing_change
        self._refusal = provisioners.custom_named_replacement_error
        self._recreation = provisioners.property_recreation
        self._roll_back = stacks.roll_back_operation
        self._add_event = stacks.add_event
        # By stack's and logical id: what an update creates, until an event says how that ended.
        self._new: set[tuple[str, str]] = set()
        # By stack and logical id: type and properties of what a `delete_then_create` replacement
        # deleted, for a rollback to create again.
        self._deleted_first: _DeletedFirst = {}

    def install(self) -> None:
        """Take the places of MiniStack's functions."""
        stacks.provision_resource = self._checked_provision
        stacks.update_resource = self._checked_update
        provisioners.replace_resource = self._replaced
        # Each module has its own name for these two.
        provisioners.replacing_change = stacks.replacing_change = self._is_replacing
        provisioners.custom_named_replacement_error = self._refused
        stacks.custom_named_replacement_error = self._refused
        # Which change sets show, and so `cdk diff`.
        provisioners.property_recreation = stacks.property_recreation = self._recreated
        stacks.roll_back_operation = self._rolled_back
        stacks.add_event = self._event_added

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
        known = cloudformation.stacks.get(stack_name, {}).get("_resources", {})
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
            told: str | None = self._refusal(resource_type, old, new, physical_id)
            return told
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
        retained = provisioners.RETAIN_REPLACED.get()
        if schema is not None and schema.deletes_first and not retained:
            provisioners.delete_resource(resource_type, physical_id, old, stack_name, logical_id)
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
    for stack in cloudformation.stacks.values() if name else ():
        for resource in stack.get("_resources", {}).values():
            if (resource["ResourceType"], resource["PhysicalResourceId"]) == (resource_type, name):
                # https://repost.aws/knowledge-center/cloudformation-resource-already-exists
                raise Refused(f"{name} already exists in stack {stack['StackId']}")


def install_cancelled_update() -> None:
    """Look for a cancellation once more, when every resource has been changed."""
    resolve = stacks.resolve_stack_outputs

    def resolve_stack_outputs(*arguments: Any) -> tuple[list[Any], dict[str, Any]]:
        stack_name = arguments[-2]
        if cloudformation.stacks[stack_name].pop("_cancel_requested", False):
            raise Refused("User Initiated")
        outputs: tuple[list[Any], dict[str, Any]] = resolve(*arguments)
        return outputs

    stacks.resolve_stack_outputs = resolve_stack_outputs


_Failed = dict[tuple[str, str], dict[str, Any]]


def install_custom_resource_rollback() -> None:
    """Remember failed creations, and hand them to the rollback."""
    failed: _Failed = {}
    ids: dict[tuple[str, str], str] = {}
    deliver, invoke = custom_resource.deliver_response, custom_resource.invoke_custom_resource
    roll_back = stacks.roll_back_operation

    def deliver_response(token: str, response: Mapping[str, Any]) -> bool:
        ids[_key(response)] = str(response.get("PhysicalResourceId") or "")
        return bool(deliver(token, response))

    def invoke_custom_resource(
        request_type: str, logical_id: str, props: dict[str, Any], *stack: str, **identity: Any
    ) -> tuple[str, dict[str, Any]]:
        _stack_name, stack_id, resource_type = stack
        try:
            result: tuple[str, dict[str, Any]] = invoke(
                request_type, logical_id, props, *stack, **identity
            )
        except RuntimeError:
            # Its handler answered FAILED; anything else means that nothing was invoked.
            if request_type == "Create":
                failed[stack_id, logical_id] = {
                    "PhysicalResourceId": ids[stack_id, logical_id],
                    "ResourceType": resource_type,
                    "LogicalResourceId": logical_id,
                    "Properties": props,
                    "Attributes": {},
                }
            raise
        return result

    async def roll_back_operation(
        stack_name: str,
        stack_id: str,
        stack: dict[str, Any],
        operation: dict[str, Any],
        **options: Any,
    ) -> None:
        for key in [key for key in failed if key[0] == stack_id]:
            record = failed.pop(key)
            stack.setdefault("_resources", {})[key[1]] = record
            operation["created"] = [*operation.get("created", []), key[1]]
        await roll_back(stack_name, stack_id, stack, operation, **options)

    custom_resource.deliver_response = deliver_response
    custom_resource.invoke_custom_resource = invoke_custom_resource
    stacks.roll_back_operation = roll_back_operation


def _key(response: Mapping[str, Any]) -> tuple[str, str]:
    return str(response.get("StackId")), str(response.get("LogicalResourceId"))


def install_failed_rollback() -> None:
    """Mark them at the end of a rollback, and of one that is continued."""
    roll_back = stacks.roll_back_operation
    continue_rollback = handlers.continue_update_rollback_async

    async def roll_back_operation(
        stack_name: str, stack_id: str, stack: dict[str, Any], *rest: Any, **options: Any
    ) -> None:
        before = dict(stack.get("_resources", {}))
        await roll_back(stack_name, stack_id, stack, *rest, **options)
        failed = stack.get("_rollback_failed", {})
        if stack["StackStatus"] == "ROLLBACK_FAILED":
            left = {name: each for name, each in failed.items() if not _is_custom(each)}
            for logical_id, record in left.items():
                known = before.get(logical_id, {})
                stack["_resources"][logical_id] = {
                    **known,
                    **record,
                    "Timestamp": responses.now_iso(),
                }
            _mark(stack, left, "DELETE_FAILED")
        else:
            _mark(stack, failed, "UPDATE_FAILED")

    async def continue_update_rollback(
        stack_name: str, stack_id: str, skipped: Iterable[str]
    ) -> None:
        await continue_rollback(stack_name, stack_id, skipped)
        stack = handlers.resolve_stack(stack_name)
        if stack is not None:
            _mark(stack, skipped, "UPDATE_COMPLETE")

    stacks.roll_back_operation = roll_back_operation
    handlers.continue_update_rollback_async = continue_update_rollback


def _is_custom(record: dict[str, Any]) -> bool:
    return str(record["ResourceType"]).startswith(("Custom::", "AWS::CloudFormation::Custom"))


def _mark(stack: dict[str, Any], logical_ids: Iterable[str], status: str) -> None:
    for logical_id in logical_ids:
        if logical_id in stack["_resources"]:
            stack["_resources"][logical_id]["ResourceStatus"] = status


_Resources = dict[str, dict[str, Any]]


def install_failed_deletion() -> None:
    """Withhold the dependencies of what failed from the rest of a stack's deletion."""
    withheld: dict[str, _Resources] = {}
    delete_resource, delete_stack = stacks.delete_resource, stacks.delete_stack_async

    def withhold_dependencies(stack_name: str, logical_id: str) -> None:
        if stack_name in withheld:
            withheld[stack_name] |= _without_dependencies(
                cloudformation.stacks[stack_name], logical_id
            )

    def delete_unless_it_fails(
        resource_type: str, physical_id: str, props: dict[str, Any], *place: str
    ) -> None:
        with ExitStack() as failed:
            failed.callback(withhold_dependencies, *place)
            delete_resource(resource_type, physical_id, props, *place)
            failed.pop_all()

    async def delete_stack_async(stack_name: str, *arguments: Any, **options: Any) -> None:
        withheld[stack_name] = {}
        try:
            await delete_stack(stack_name, *arguments, **options)
        finally:
            kept = withheld.pop(stack_name)
            if kept:
                cloudformation.stacks[stack_name]["_resources"] |= kept

    stacks.delete_resource = delete_unless_it_fails
    stacks.delete_stack_async = handlers.delete_stack_async = delete_stack_async


def _without_dependencies(stack: dict[str, Any], logical_id: str) -> _Resources:
    """Take what a resource depends on from the stack's resources, and return it."""
    resources: _Resources = stack["_resources"]
    # A stack whose creation failed has none.
    defined = stack["_template"].get("Resources", {})
    names = stacks.with_dependencies([logical_id], defined, set(resources)) - {logical_id}
    return {name: resources.pop(name) for name in names}


def install_failing_step(*, settings: Settings) -> None:
    """Let a step fail that the rehearsal has named: before its service does anything.

    The function of a custom resource does what it is asked to, and then answers that it failed.
    """
    provision, update = stacks.provision_resource, stacks.update_resource
    deliver = custom_resource.deliver_response

    def fails(stack_name: str, logical_id: str) -> bool:
        return FailingStep.take(Path(settings.scratch), stack=stack_name, logical_id=logical_id)

    def refuse(resource_type: str, stack_name: str, logical_id: str) -> None:
        is_custom = _is_custom({"ResourceType": resource_type})
        if not is_custom and fails(stack_name, logical_id):
            raise Refused(_REHEARSED)

    def provision_resource(*arguments: Any) -> Created:
        refuse(arguments[0], arguments[3], arguments[1])
        created: Created = provision(*arguments)
        return created

    def update_resource(*arguments: Any) -> Created:
        refuse(arguments[0], arguments[4], arguments[5])
        updated: Created = update(*arguments)
        return updated

    def deliver_response(token: str, response: Mapping[str, Any]) -> bool:
        stack_id, logical_id = _key(response)
        if fails(stack_id.split("/")[1], logical_id):
            response = {**response, "Status": "FAILED", "Reason": _REHEARSED}
        return bool(deliver(token, response))

    stacks.provision_resource, stacks.update_resource = provision_resource, update_resource
    custom_resource.deliver_response = deliver_response
