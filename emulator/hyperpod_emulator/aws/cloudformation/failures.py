"""What of stacks fails or is cancelled, and their rollbacks.

A step can be made to fail (`FailingStep`). Otherwise:

- MiniStack looks for a cancellation before each resource, and misses a later one. CloudFormation
  takes it as long as the stack is UPDATE_IN_PROGRESS:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
- A custom resource whose creation failed is deleted in the rollback. MiniStack forgets it, so what
  a handler half made, or kept on purpose, would never get its Delete.
- Resources whose rollback failed say so, and stay in their stack until they are skipped. MiniStack
  shows what they were before, and forgets those of a creation. Custom resources stay forgotten:
  its rollback goes on, and deletes the rights that their own deletion would take.
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
- What a resource that was not deleted depends on is not deleted either: "retains dependencies of
  those resources", where MiniStack goes on with everything:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-delete-stack.html
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created
from hyperpod_emulator.aws.ministack import (
    cloudformation,
    custom_resource,
    handlers,
    responses,
    stacks,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import FailingStep, own_settings

_ON_REQUEST = "Internal failure, which is simulated"


def install() -> None:
    """Fail as CloudFormation does, and where a `FailingStep` says so."""
    wrap(stacks, "_resolve_stack_outputs", _resolve_stack_outputs)
    wrap(custom_resource, "deliver_response", _remember_id)
    wrap(custom_resource, "invoke_custom_resource", _invoke_custom_resource)
    wrap(stacks, "_roll_back_operation", _roll_back_failed_creations)
    wrap(stacks, "_delete_resource", _delete_resource)
    for module in (stacks, handlers):
        wrap(module, "_delete_stack_async", _delete_stack_async)
    wrap(stacks, "_roll_back_operation", _mark_failed_rollback)
    wrap(handlers, "_continue_update_rollback_async", _continue_update_rollback)
    wrap(stacks, "_provision_resource", partial(_change, 3, 1))
    wrap(stacks, "_update_resource", partial(_change, 4, 5))
    wrap(custom_resource, "deliver_response", _fail_response)


def _resolve_stack_outputs(
    resolve: Callable[..., tuple[list[Any], dict[str, Any]]], *arguments: Any
) -> tuple[list[Any], dict[str, Any]]:
    stack_name = arguments[-2]
    if cloudformation._stacks[stack_name].pop("_cancel_requested", False):
        raise Refused("User Initiated")
    return resolve(*arguments)


_failed: dict[tuple[str, str], dict[str, Any]] = {}
_ids: dict[tuple[str, str], str] = {}


def _remember_id(deliver: Callable[..., bool], token: str, response: Mapping[str, Any]) -> bool:
    _ids[_key(response)] = str(response.get("PhysicalResourceId") or "")
    return deliver(token, response)


def _invoke_custom_resource(
    invoke: Callable[..., Created],
    request_type: str,
    logical_id: str,
    props: dict[str, Any],
    *stack: str,
    **identity: Any,
) -> Created:
    _stack_name, stack_id, resource_type = stack
    try:
        return invoke(request_type, logical_id, props, *stack, **identity)
    except RuntimeError:
        # Its handler answered FAILED; anything else means that nothing was invoked.
        if request_type == "Create":
            _failed[stack_id, logical_id] = {
                "PhysicalResourceId": _ids[stack_id, logical_id],
                "ResourceType": resource_type,
                "LogicalResourceId": logical_id,
                "Properties": props,
                "Attributes": {},
            }
        raise


async def _roll_back_failed_creations(
    roll_back: Callable[..., Awaitable[None]],
    stack_name: str,
    stack_id: str,
    stack: dict[str, Any],
    operation: dict[str, Any],
    **options: Any,
) -> None:
    for key in [key for key in _failed if key[0] == stack_id]:
        record = _failed.pop(key)
        stack.setdefault("_resources", {})[key[1]] = record
        operation["created"] = [*operation.get("created", []), key[1]]
    await roll_back(stack_name, stack_id, stack, operation, **options)


def _key(response: Mapping[str, Any]) -> tuple[str, str]:
    return str(response.get("StackId")), str(response.get("LogicalResourceId"))


async def _mark_failed_rollback(
    roll_back: Callable[..., Awaitable[None]],
    stack_name: str,
    stack_id: str,
    stack: dict[str, Any],
    *rest: Any,
    **options: Any,
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


async def _continue_update_rollback(
    continue_rollback: Callable[..., Awaitable[None]],
    stack_name: str,
    stack_id: str,
    skipped: Iterable[str],
) -> None:
    await continue_rollback(stack_name, stack_id, skipped)
    stack = handlers._resolve_stack(stack_name)
    if stack is not None:
        _mark(stack, skipped, "UPDATE_COMPLETE")


def _is_custom(record: dict[str, Any]) -> bool:
    return str(record["ResourceType"]).startswith(("Custom::", "AWS::CloudFormation::Custom"))


def _mark(stack: dict[str, Any], logical_ids: Iterable[str], status: str) -> None:
    for logical_id in logical_ids:
        if logical_id in stack["_resources"]:
            stack["_resources"][logical_id]["ResourceStatus"] = status


_Resources = dict[str, dict[str, Any]]


_withheld: dict[str, _Resources] = {}


def _withhold_dependencies(stack_name: str, logical_id: str) -> None:
    if stack_name in _withheld:
        _withheld[stack_name] |= _without_dependencies(
            cloudformation._stacks[stack_name], logical_id
        )


def _delete_resource(delete: Callable[..., None], *resource: Any) -> None:
    with ExitStack() as failed:
        failed.callback(_withhold_dependencies, *resource[3:])
        delete(*resource)
        failed.pop_all()


async def _delete_stack_async(
    delete_stack: Callable[..., Awaitable[None]],
    stack_name: str,
    *arguments: Any,
    **options: Any,
) -> None:
    _withheld[stack_name] = {}
    try:
        await delete_stack(stack_name, *arguments, **options)
    finally:
        kept = _withheld.pop(stack_name)
        if kept:
            cloudformation._stacks[stack_name]["_resources"] |= kept


def _without_dependencies(stack: dict[str, Any], logical_id: str) -> _Resources:
    """Take what a resource depends on from the stack's resources, and return it."""
    resources: _Resources = stack["_resources"]
    # A stack whose creation failed has none.
    defined = stack["_template"].get("Resources", {})
    names = stacks._with_dependencies([logical_id], defined, set(resources)) - {logical_id}
    return {name: resources.pop(name) for name in names}


def _fails(stack_name: str, logical_id: str) -> bool:
    return FailingStep.take(Path(own_settings().scratch), stack=stack_name, logical_id=logical_id)


def _change(
    stack: int, logical_id: int, changed: Callable[..., Created], *arguments: Any
) -> Created:
    is_custom = _is_custom({"ResourceType": arguments[0]})
    if not is_custom and _fails(arguments[stack], arguments[logical_id]):
        raise Refused(_ON_REQUEST)
    return changed(*arguments)


def _fail_response(deliver: Callable[..., bool], token: str, response: Mapping[str, Any]) -> bool:
    stack_id, logical_id = _key(response)
    if _fails(stack_id.split("/")[1], logical_id):
        response = {**response, "Status": "FAILED", "Reason": _ON_REQUEST}
    return deliver(token, response)
