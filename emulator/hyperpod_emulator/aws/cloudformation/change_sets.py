"""What makes a change set: also other outputs, which MiniStack does not compare.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets.html
"""

from collections.abc import Callable
from typing import Any

from hyperpod_emulator.aws.ministack import (
    Response,
    changesets,
    cloudformation,
    handlers,
    wrap,
)

_Params = dict[str, Any]
_NOTHING = "didn't contain changes"


def install() -> None:
    """Let a change of outputs alone be executed."""
    wrap(handlers._ACTION_HANDLERS, "CreateChangeSet", _with_outputs)


def _with_outputs(handle: Callable[[_Params], Response], params: _Params) -> Response:
    response = handle(params)
    _id, found = changesets._find_change_set(
        handlers._p(params, "ChangeSetName"), handlers._p(params, "StackName")
    )
    if found is not None and _NOTHING in found["StatusReason"]:
        deployed = cloudformation._stacks.get(found["StackName"], {}).get("_template", {})
        if found["_template"].get("Outputs", {}) != deployed.get("Outputs", {}):
            found |= {
                "Status": "CREATE_COMPLETE",
                "ExecutionStatus": "AVAILABLE",
                "StatusReason": "",
            }
    return response
