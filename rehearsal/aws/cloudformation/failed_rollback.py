"""Resources whose rollback failed say so until somebody skips them.

MiniStack shows what they were before the update.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
"""

from collections.abc import Iterable
from typing import Any

from ministack.services.cloudformation import handlers, stacks


def install() -> None:
    """Mark them at the end of a rollback, and of one that is continued."""
    roll_back = stacks._roll_back_operation
    continue_rollback = handlers._continue_update_rollback_async

    async def roll_back_operation(
        stack_name: str, stack_id: str, stack: dict[str, Any], *rest: Any, **options: Any
    ) -> None:
        await roll_back(stack_name, stack_id, stack, *rest, **options)
        _mark(stack, stack.get("_rollback_failed", ()), "UPDATE_FAILED")

    async def continue_update_rollback(
        stack_name: str, stack_id: str, skipped: Iterable[str]
    ) -> None:
        await continue_rollback(stack_name, stack_id, skipped)
        stack = handlers._resolve_stack(stack_name)
        if stack is not None:
            _mark(stack, skipped, "UPDATE_COMPLETE")

    stacks._roll_back_operation = roll_back_operation
    handlers._continue_update_rollback_async = continue_update_rollback


def _mark(stack: dict[str, Any], logical_ids: Iterable[str], status: str) -> None:
    for logical_id in logical_ids:
        if logical_id in stack["_resources"]:
            stack["_resources"][logical_id]["ResourceStatus"] = status
