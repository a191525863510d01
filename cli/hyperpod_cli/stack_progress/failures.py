"""Why an operation on stacks failed, the cause first, and what to run next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.stack_progress.progress import progress_of
from hyperpod_shared import node_group_health as node_groups

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

    The stack is the one that the user deploys; the event's own may be nested in it. The log group
    is that of the function that said the message; None for another resource.
    """

    stack: str
    event: StackEvent
    message: str
    log_group: str | None = None


def failures_of(events: Mapping[str, Iterable[StackEvent]]) -> list[Failure]:
    """Return the causes of failed operations, the earliest first: at most one a stack.

    The events are those since the operation began, with those of nested stacks.
    """
    first = [
        (min(causes, key=lambda event: event.time), name)
        for name, own in events.items()
        if (causes := _causes(own))
    ]
    return [_failure(event, name) for event, name in sorted(first, key=lambda each: each[0].time)]


def is_cancelled(events: Iterable[StackEvent]) -> bool:
    """Return whether the operation was cancelled."""
    return any(event.is_of_stack and event.reason == "User Initiated" for event in events)


def _causes(events: Iterable[StackEvent]) -> list[StackEvent]:
    """Return the failures that are none's consequence; else those of a rollback alone."""
    failed = [
        event
        for event in events
        if event.status.endswith("_FAILED")
        and not event.is_of_stack
        and not _CONSEQUENCES.match(event.reason)
    ]
    inside = {event.stack_id for event in failed}
    # A nested stack fails for what is inside it.
    return [event for event in failed if event.nested_stack not in inside]


def _failure(event: StackEvent, stack: str) -> Failure:
    message, log_group = plain(event.reason)
    if event.type == node_groups.TYPE:
        exists = not event.status.startswith("CREATE")
        message = node_groups.explained(message, exists=exists)
    return Failure(stack=stack, event=event, message=message, log_group=log_group)


def plain(reason: str) -> tuple[str, str | None]:
    """Return what a resource says itself, and the log group of the function that said it."""
    lines = _CUSTOM.sub("", reason.strip()).splitlines()
    group = next((match["group"] for match in map(_LOGS.match, lines) if match), None)
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """A stack that is not as it should be, and the command that was run, to run again.

    Resources are stuck if they could be neither rolled back nor deleted.
    """

    stack: str
    region: str
    status: str
    again: str
    stuck: Sequence[str] = ()

    def aws(self, command: str, *options: str) -> str:
        """Return a command of the AWS CLI for the stack."""
        return " ".join(
            [
                f"aws cloudformation {command} --stack-name {self.stack} --region {self.region}",
                *options,
            ]
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NextStep:
    """What was left, as a sentence, and what to run, in this order."""

    meaning: str
    commands: tuple[str, ...]


_PAUSED = "{stack} is left as it was when it failed; a rollback takes that back."
# What was left, by the status; `{left}` could be neither rolled back nor deleted.
_MEANINGS = {
    "": "{stack} was not touched.",
    "CREATE_FAILED": _PAUSED,
    "DELETE_FAILED": "{stack} still has {left}.",
    "REVIEW_IN_PROGRESS": "{stack} has nothing in it yet: its change set was not executed.",
    "ROLLBACK_COMPLETE": "{stack} is rolled back: what it had created is deleted, unless its "
    "template retains it. Deploying again deletes the empty stack first.",
    "ROLLBACK_FAILED": "{stack} still has {left}. Deploying again deletes the stack first.",
    "UPDATE_FAILED": _PAUSED,
    "UPDATE_ROLLBACK_COMPLETE": "{stack} is as it was before.",
    "UPDATE_ROLLBACK_FAILED": "{stack} takes no update until its rollback has ended.",
}


def next_step(situation: Situation) -> NextStep:
    """Return what to do about a stack: every status of CloudFormation has an answer.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
    """
    status, stuck, again = situation.status, situation.stuck, situation.again
    first: list[str] = []
    more = ""
    match status:
        case "CREATE_FAILED" | "UPDATE_FAILED":
            first = [situation.aws("rollback-stack")]
        case "DELETE_FAILED" if not again.startswith("hyperpod-cdk destroy"):
            first = [situation.aws("delete-stack"), situation.aws("wait stack-delete-complete")]
            more = " It takes no update."
        case "UPDATE_ROLLBACK_FAILED":
            waiting = situation.aws("wait stack-rollback-complete")
            first = [situation.aws("continue-update-rollback"), waiting]
            if stuck:
                more = (
                    f" If {', '.join(stuck)} cannot go back to what it was, add: "
                    f"--resources-to-skip {' '.join(stuck)}"
                )
        case _ if _is_at_work(status):
            first = [_watching(situation)]
    at_work = "CloudFormation still works on {stack} ({status})."
    other = at_work if _is_at_work(status) else "{stack} is {status}."
    left = ", ".join(stuck) or "what could not be deleted"
    meaning = _MEANINGS.get(status, other).format(stack=situation.stack, status=status, left=left)
    return NextStep(meaning=meaning + more, commands=(*first, again))


def _is_at_work(status: str) -> bool:
    return status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS"


def _watching(situation: Situation) -> str:
    """Return the command that shows how far CloudFormation is, or waits for its end."""
    waiters = {
        "CREATE_IN_PROGRESS": "wait stack-create-complete",
        "DELETE_IN_PROGRESS": "wait stack-delete-complete",
        "UPDATE_IN_PROGRESS": "wait stack-update-complete",
        "UPDATE_ROLLBACK_IN_PROGRESS": "wait stack-rollback-complete",
    }
    if situation.status in waiters:
        return situation.aws(waiters[situation.status])
    # There is no waiter for the rollback of a creation, nor for what comes after an update.
    return situation.aws("describe-stacks", "--query 'Stacks[0].StackStatus'")


# What ends an operation that goes on, and what is said of it.
_ENDINGS = {
    "CREATE_IN_PROGRESS": ("delete-stack", "To watch it, and to delete what it creates:"),
    "UPDATE_IN_PROGRESS": ("cancel-update-stack", "To watch it, and to cancel the update:"),
}


def interrupted(situation: Situation) -> NextStep | None:
    """Return what goes on in AWS after Ctrl-C; None for a stack that nothing happens to."""
    status = situation.status
    if not _is_at_work(status):
        return None
    ending, watching = _ENDINGS.get(status, ("", "It cannot be cancelled. To watch it:"))
    return NextStep(
        meaning=f"CloudFormation goes on with {situation.stack} ({status}). {watching}",
        commands=(_watching(situation), *([situation.aws(ending)] if ending else [])),
    )


Paths = Mapping[str, Mapping[str, str]]
"""Path of the construct of each resource, by stack and logical ID."""


def failure_lines(
    events: Mapping[str, Sequence[StackEvent]],
    *,
    region: str,
    again: str,
    paths: Paths,
) -> Iterator[str]:
    """Yield what a failed operation comes to: its causes first, then what to do about each stack.

    Nothing, if CloudFormation has no event that says so.
    """
    causes = failures_of(events)
    for failure in causes:
        yield from _cause(failure, paths.get(failure.stack, {}))
        yield ""
    failed = {name: own for name, own in events.items() if progress_of(own).has_failed}
    at_fault = {failure.stack for failure in causes}
    for name, own in failed.items():
        if is_cancelled(own) and name not in at_fault:
            yield f"The update of {name} was cancelled."
        step = next_step(
            Situation(
                stack=name,
                region=region,
                status=progress_of(own).status,
                again=again,
                stuck=stuck_resources(own),
            )
        )
        yield step.meaning
        yield from (f"  {command}" for command in step.commands if command != again)
    if failed:
        yield f"{'After the fix' if causes else 'To run it again'}: {again}"


def _cause(failure: Failure, paths: Mapping[str, str]) -> Iterator[str]:
    yield failure.message
    event = failure.event
    yield (
        f"Resource: {paths.get(event.logical_id, event.logical_id)} ({event.type}) of "
        f"{failure.stack}, {event.status}, logical ID {event.logical_id}"
    )
    if failure.log_group is not None:
        yield f"Logs: {failure.log_group} in CloudWatch"


def interruption_lines(
    events: Mapping[str, Sequence[StackEvent]], *, region: str, again: str
) -> Iterator[str]:
    """Yield what goes on in AWS after Ctrl-C, and how to watch or cancel it."""
    going_on = False
    for name, own in events.items():
        status = progress_of(own).status
        step = interrupted(Situation(stack=name, region=region, status=status, again=again))
        if step is not None:
            going_on = True
            yield step.meaning
            yield from (f"  {command}" for command in step.commands)
        elif status:
            yield f"{name} is {status}."
    not_begun = [name for name, own in events.items() if not progress_of(own).begun]
    if not_begun:
        yield f"Not begun: {', '.join(not_begun)}."
    if not going_on:
        yield "Nothing goes on in AWS."
    yield f"To go on afterwards: {again}"


def untold_failure(message: str, *, log: Path) -> Iterator[str]:
    """Yield what is said of a failure that no event of a stack tells, but the CDK CLI."""
    yield message or "The CDK CLI failed and said nothing"
    yield f"The CDK CLI's output is in {log}."
