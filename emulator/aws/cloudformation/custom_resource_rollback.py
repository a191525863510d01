"""A custom resource whose creation failed is deleted in the rollback, as CloudFormation does.

MiniStack forgets it, so what a handler half made, or kept on purpose, would never get its Delete.
"""

from collections.abc import Mapping
from typing import Any

from emulator.aws.ministack import custom_resource, stacks

_Failed = dict[tuple[str, str], dict[str, Any]]


def install() -> None:
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
