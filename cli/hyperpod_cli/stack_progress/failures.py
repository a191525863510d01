"""Why an operation on stacks failed: the cause first, without the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hyperpod_cli.aws.stack_events import StackEvent

# What CloudFormation says of resources that another one's failure stopped.
_CONSEQUENCES = re.compile(
    r"^(Resource (creation|update|deletion) cancelled"
    r"|The following resource\(s\) failed to (create|update|delete): "
    r"|User Initiated)"
)
_CUSTOM = re.compile(
    r"^Received response status \[?FAILED\]? from custom resource\. Message returned: ", re.I
)
_HANDLER = re.compile(r'^Resource handler returned message: "(?P<message>.*)"\s*\(.*\)$', re.S)
# The call's identifiers, which are in the stack's events.
_CALL = re.compile(r"\s*\((?:Service: [^()]*|RequestId: [^()]*|SDK Attempt Count: [^()]*)\)")
# The provisioner's own classes, and JavaScript's.
_ERROR_CLASS = re.compile(r"^[A-Za-z]*(?:Error|Failure): ")
_LOGS = re.compile(r"^Logs: (?P<group>\S+)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A resource that failed, and no other one's failure made it.

    Attributes:
        stack: Name of the stack that the user deploys.
        logical_id: Logical ID of the resource.
        type: Its type.
        resource_status: Its status, such as CREATE_FAILED.
        message: What it says itself.
        log_group: Log group of the function that said so; None for another resource.
    """

    stack: str
    logical_id: str
    type: str
    resource_status: str
    message: str
    log_group: str | None = None


def failures_of(events: Mapping[str, Iterable[StackEvent]]) -> list[Failure]:
    """Return the causes of failed operations, the earliest first: at most one a stack.

    Args:
        events: Events of each stack, those of its nested stacks among them, since the operation
            began.
    """
    first = [
        (min(causes, key=lambda event: event.time), name)
        for name, causes in ((name, _causes(own)) for name, own in events.items())
        if causes
    ]
    return [_failure(event, name) for event, name in sorted(first, key=lambda each: each[0].time)]


def is_cancelled(events: Iterable[StackEvent]) -> bool:
    """Return whether somebody cancelled the operation."""
    return any(event.is_of_stack and event.reason == "User Initiated" for event in events)


def _causes(events: Iterable[StackEvent]) -> list[StackEvent]:
    """Return the failures that are none's consequence; else those of a rollback alone."""
    known = [*events]
    failed = [
        event
        for event in known
        if event.status.endswith("_FAILED")
        and not event.is_of_stack
        and not _CONSEQUENCES.match(event.reason)
    ]
    inside = {event.stack_id for event in failed}
    # A nested stack fails for what is inside it.
    return [event for event in failed if event.nested_stack not in inside]


def _failure(event: StackEvent, stack: str) -> Failure:
    message, log_group = plain(event.reason)
    return Failure(
        stack=stack,
        logical_id=event.logical_id,
        type=event.type,
        resource_status=event.status,
        message=message,
        log_group=log_group,
    )


def plain(reason: str) -> tuple[str, str | None]:
    """Return what a resource says itself, and the log group of the function that said it.

    Args:
        reason: Reason of a status, as CloudFormation words it.
    """
    lines = _CUSTOM.sub("", reason.strip()).splitlines()
    group = next((found["group"] for found in map(_LOGS.match, lines) if found), None)
    # The provider framework adds its own stack trace.
    kept = [line for line in lines if line.strip() and not re.match(r"\s+at |Logs: ", line)]
    text = _CALL.sub("", "\n".join(kept)).strip()
    handler = _HANDLER.match(text)
    text = handler["message"].strip() if handler else text
    return _ERROR_CLASS.sub("", text) or "CloudFormation gives no reason", group


def stuck_resources(events: Iterable[StackEvent]) -> tuple[str, ...]:
    """Return the logical IDs of the resources that a rollback or a deletion failed on."""
    status, stuck = "", {}
    for event in events:
        if event.is_of_stack:
            status = event.status
        elif status.startswith(("ROLLBACK", "UPDATE_ROLLBACK", "DELETE")):
            stuck[event.logical_id] = event.status.endswith("_FAILED")
    return tuple(name for name, failed in stuck.items() if failed)
