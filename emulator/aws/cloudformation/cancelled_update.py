"""An update that is cancelled while its last resource changes is rolled back too.

MiniStack looks for a cancellation before each resource, and misses a later one. CloudFormation
takes it as long as the stack is UPDATE_IN_PROGRESS:
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
"""

from typing import Any

from emulator.aws.cloudformation.resource_type import Refused
from emulator.aws.ministack import cloudformation, stacks


def install() -> None:
    """Look for a cancellation once more, when every resource has been changed."""
    resolve = stacks.resolve_stack_outputs

    def resolve_stack_outputs(*arguments: Any) -> tuple[list[Any], dict[str, Any]]:
        stack_name = arguments[-2]
        if cloudformation.stacks[stack_name].pop("_cancel_requested", False):
            raise Refused("User Initiated")
        outputs: tuple[list[Any], dict[str, Any]] = resolve(*arguments)
        return outputs

    stacks.resolve_stack_outputs = resolve_stack_outputs
