"""Express mode: a resource counts as done when its call has succeeded.

- The mode comes with CreateChangeSet, CreateStack, UpdateStack or DeleteStack. Change set and stack
  show it.
- Nothing is waited for but custom resources.
- Nothing is rolled back unless DisableRollback is false, and while a stack is left failed so, it
  takes no operation in another mode: https://github.com/aws/aws-cdk-cli/issues/1739.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created
from hyperpod_emulator.aws.ministack import (
    Response,
    changesets,
    cloudformation,
    handlers,
    stacks,
    wrap,
)
from hyperpod_emulator.aws.settings import Readiness, own_settings

STANDARD, EXPRESS = "STANDARD", "EXPRESS"
REASON = (
    "Resource operation completed using Express Mode. It may continue becoming available in the "
    "background."
)
"""CloudFormation's words: https://github.com/aws/aws-cdk-cli/pull/1689."""

_CONFIG = "_deployment_config"
_Params = dict[str, Any]
_MADE: ContextVar[Readiness | None] = ContextVar("made", default=None)


def readiness() -> Readiness | None:
    """Return when what is being made becomes ready; None if CloudFormation waits for it."""
    return _MADE.get()


def install() -> None:
    """Take the mode from the requests, show it, and know it while resources change."""
    for action, around in {
        "CreateStack": _change_stack,
        "UpdateStack": _change_stack,
        "CreateChangeSet": _create_change_set,
        "DescribeChangeSet": _describe_change_set,
        "ExecuteChangeSet": _execute_change_set,
        "RollbackStack": _roll_back_stack,
        "DeleteStack": _delete_stack,
        "DescribeStacks": _describe_stacks,
    }.items():
        wrap(handlers._ACTION_HANDLERS, action, around)
    wrap(stacks, "_provision_resource", partial(_change, 3))
    wrap(stacks, "_update_resource", partial(_change, 4))
    wrap(stacks, "_add_event", _explained_event)


def _change(place: int, changed: Callable[..., Created], *arguments: Any) -> Created:
    express = _is_express(arguments[place])
    token = _MADE.set(Readiness.read(Path(own_settings().scratch)) if express else None)
    try:
        return changed(*arguments)
    finally:
        _MADE.reset(token)


def _explained_event(  # noqa: PLR0917 - MiniStack's signature
    add_event: Callable[..., None],
    stack_id: str,
    stack_name: str,
    logical_id: str,
    resource_type: str,
    status: str,
    reason: str = "",
    *rest: Any,
    **options: Any,
) -> None:
    done = status.endswith("_COMPLETE") and logical_id != stack_name
    if done and _is_express(stack_name) and resource_type.startswith("AWS::"):
        reason = reason or REASON
    add_event(stack_id, stack_name, logical_id, resource_type, status, reason, *rest, **options)


def _is_express(stack_name: str) -> bool:
    stack = cloudformation._stacks.get(stack_name) or {}
    return bool(stack.get(_CONFIG, {}).get("Mode") == EXPRESS)


def _asked(params: _Params) -> dict[str, str]:
    mode = handlers._p(params, "DeploymentConfig.Mode") or STANDARD
    given = handlers._p(params, "DeploymentConfig.DisableRollback")
    return {"Mode": mode, "DisableRollback": given or str(mode == EXPRESS).lower()}


def _left_failed(params: _Params) -> str | None:
    """Return the status of a stack that a failure in express mode has left; None for any other."""
    stack = handlers._resolve_stack(handlers._p(params, "StackName")) or {}
    status = stack.get("StackStatus")
    failed = status in {"CREATE_FAILED", "UPDATE_FAILED"}
    return status if failed and stack.get(_CONFIG, {}).get("Mode") == EXPRESS else None


def _refusal(params: _Params) -> Response | None:
    """Return the refusal of another mode while a stack is left failed in express mode."""
    status = _left_failed(params)
    if status is None or _asked(params)["Mode"] == EXPRESS:
        return None
    return _refused(
        f"This stack is in a {status} state from a previous operation that used EXPRESS deployment "
        "mode with disable-rollback. Follow-up operations must use the same DeploymentConfig "
        "(mode=EXPRESS) until the stack reaches a *_COMPLETE state"
    )


def _roll_back_stack(handle: Callable[[_Params], Response], params: _Params) -> Response:
    if _left_failed(params) is None:
        return handle(params)
    return _refused(
        "RollbackStack is not supported for stacks that were last updated using EXPRESS deployment "
        "mode and are in a failed state"
    )


def _refused(message: str) -> Response:
    return changesets._error("ValidationError", message)


def _change_stack(handle: Callable[[_Params], Response], params: _Params) -> Response:
    refusal, asked = _refusal(params), _asked(params)
    if refusal is not None:
        return refusal
    if asked["Mode"] == EXPRESS:
        params = {**params, "DisableRollback": [asked["DisableRollback"]]}
    response = handle(params)
    stack = handlers._resolve_stack(handlers._p(params, "StackName"))
    if response[0] == HTTPStatus.OK and stack:
        stack[_CONFIG] = asked  # nothing has begun: its task waits for the event loop
    return response


def _create_change_set(handle: Callable[[_Params], Response], params: _Params) -> Response:
    refusal = _refusal(params)
    if refusal is not None:
        return refusal
    response = handle(params)
    change_set = _change_set(params)
    if change_set is not None:
        change_set[_CONFIG] = _asked(params)
    return response


def _describe_change_set(handle: Callable[[_Params], Response], params: _Params) -> Response:
    end = "</DescribeChangeSetResult>"
    shown = _xml((_change_set(params) or {}).get(_CONFIG))
    return _replaced(handle(params), end, f"{shown}{end}")


def _execute_change_set(handle: Callable[[_Params], Response], params: _Params) -> Response:
    change_set = _change_set(params) or {}
    config = change_set.get(_CONFIG)
    if config is None:
        return handle(params)
    cloudformation._stacks[change_set["StackName"]][_CONFIG] = config
    if config["Mode"] == EXPRESS:
        params = {**params, "DisableRollback": [config["DisableRollback"]]}
    return handle(params)


def _delete_stack(handle: Callable[[_Params], Response], params: _Params) -> Response:
    stack = handlers._resolve_stack(handlers._p(params, "StackName"))
    if stack:
        stack[_CONFIG] = _asked(params)
    return handle(params)


def _describe_stacks(handle: Callable[[_Params], Response], params: _Params) -> Response:
    response = handle(params)
    for stack in cloudformation._stacks.values():
        identifier = f"<StackId>{stack['StackId']}</StackId>"
        response = _replaced(response, identifier, identifier + _xml(stack.get(_CONFIG)))
    return response


def _xml(config: dict[str, str] | None) -> str:
    inner = "".join(f"<{key}>{value}</{key}>" for key, value in (config or {}).items())
    return f"<DeploymentConfig>{inner}</DeploymentConfig>" if inner else ""


def _replaced(response: Response, old: str, new: str) -> Response:
    status, headers, body = response
    return status, headers, body.replace(old.encode(), new.encode())


def _change_set(params: _Params) -> dict[str, Any] | None:
    found: dict[str, Any] | None
    _id, found = changesets._find_change_set(
        handlers._p(params, "ChangeSetName"), handlers._p(params, "StackName")
    )
    return found
