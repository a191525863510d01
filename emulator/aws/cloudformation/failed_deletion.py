"""What a resource that was not deleted depends on is not deleted either, as in CloudFormation.

MiniStack goes on with everything. CloudFormation deletes in the reverse order of dependencies, so
the turn of what an undeleted resource depends on never comes; a forced deletion "retains all
resources that failed to delete, and retains dependencies of those resources":
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-delete-stack.html
"""

from contextlib import ExitStack
from typing import Any

from emulator.aws.ministack import cloudformation, handlers, stacks

_Resources = dict[str, dict[str, Any]]


def install() -> None:
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
