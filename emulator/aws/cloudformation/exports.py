"""A stack keeps the exports that other stacks import, and no two stacks export one name.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.cloudformation.resource_type import Refused
from emulator.aws.ministack import cloudformation, handlers, stacks

_Response = tuple[int, dict[str, str], bytes]


def _importers(export_name: str, *, exporter: str) -> list[str]:
    """Return the names of the other stacks that import a value."""
    return sorted(
        name
        for name, stack in cloudformation.stacks.items()
        if name != exporter
        and stack.get("StackStatus") not in ("DELETE_COMPLETE", "REVIEW_IN_PROGRESS")
        and export_name in handlers.imported_export_names(stack, name)
    )


def _exports_of(stack_id: str) -> dict[str, Any]:
    return {
        name: export["Value"]
        for name, export in cloudformation.exports.items()
        if export["StackId"] == stack_id
    }


def _require_unused(
    names: Iterable[str], *, exports: Mapping[str, Mapping[str, Any]], stack: str
) -> None:
    for name in names:
        users = ", ".join(_importers(name, exporter=stack))
        if users:
            # https://repost.aws/knowledge-center/cloudformation-stack-export-name-error
            verb = "updated" if name in exports else "deleted"
            raise Refused(f"Export {name} cannot be {verb} as it is in use by {users}")


def install() -> None:
    """Check the exports of each update and each deletion."""
    resolve, delete_stack = stacks.resolve_stack_outputs, handlers.delete_stack

    def resolve_stack_outputs(*arguments: Any) -> tuple[list[Any], dict[str, Any]]:
        stack_name, stack_id = arguments[-2:]
        outputs, exports = resolve(*arguments)
        for name in exports:
            other = cloudformation.exports.get(name)
            if other is not None and other["StackId"] != stack_id:
                exporter = other["StackId"].split("/")[1]
                raise Refused(f"Export with name {name} is already exported by stack {exporter}")
        before = _exports_of(stack_id)
        changed = [
            name for name, value in before.items() if exports.get(name, {}).get("Value") != value
        ]
        _require_unused(changed, exports=exports, stack=stack_name)
        # MiniStack calls this last of all that can fail; it adds the new exports itself.
        for name in before.keys() - exports.keys():
            cloudformation.exports.pop(name, None)
        return outputs, exports

    def delete(params: Mapping[str, Any]) -> _Response:
        stack = handlers.resolve_stack(handlers.p(params, "StackName"))
        refusal = None if stack is None else _delete_refusal(stack)
        if stack is None or refusal is None:
            answer: _Response = delete_stack(params)
            return answer
        # The request succeeds, and the stack stays in the state in which it is:
        # https://github.com/rlister/stax/issues/40
        stacks.add_event(
            stack["StackId"],
            stack["StackName"],
            stack["StackName"],
            "AWS::CloudFormation::Stack",
            stack["StackStatus"],
            refusal,
            stack["StackId"],
        )
        accepted: _Response = handlers.xml(HTTPStatus.OK, "DeleteStackResponse", "")
        return accepted

    stacks.resolve_stack_outputs = resolve_stack_outputs
    handlers.delete_stack = handlers.ACTION_HANDLERS["DeleteStack"] = delete


def _delete_refusal(stack: Mapping[str, Any]) -> str | None:
    """Return why a stack cannot be deleted, or None."""
    if stack.get("EnableTerminationProtection") or stack["StackStatus"].startswith("DELETE_"):
        return None
    for name in _exports_of(stack["StackId"]):
        users = ", ".join(_importers(name, exporter=stack["StackName"]))
        if users:
            # https://github.com/aws-samples/iam-identity-center-team/pull/474
            return f"Delete canceled. Cannot delete export {name} as it is in use by {users}."
    return None
