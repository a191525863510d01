"""Resources whose rollback failed say so, and stay in their stack until somebody skips them.

MiniStack shows what they were before the update, and forgets those of a creation, which the
deletion of their stack tries again. Custom resources stay forgotten: MiniStack's rollback goes on,
and deletes the rights that their own deletion would take.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
"""

from collections.abc import Iterable
from typing import Any

from emulator.aws.ministack import handlers, responses, stacks


def install() -> None:
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
