"""What came of an operation on stacks, as its user reads it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.stack_progress.failures import (
    Failure,
    failures_of,
    is_cancelled,
    stuck_resources,
)
from hyperpod_cli.stack_progress.next_steps import Situation, interrupted, next_step
from hyperpod_cli.stack_progress.progress import progress_of

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

    Args:
        events: Events of each stack since the operation began.
        region: Region of the stacks.
        again: Command that was run.
        paths: What the resources are called.
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
    name = paths.get(failure.logical_id, failure.logical_id)
    yield (
        f"Resource: {name} ({failure.type}) of {failure.stack}, {failure.resource_status}, "
        f"logical ID {failure.logical_id}"
    )
    if failure.log_group is not None:
        yield f"Logs: {failure.log_group} in CloudWatch"


def interruption_lines(
    events: Mapping[str, Sequence[StackEvent]], *, region: str, again: str
) -> Iterator[str]:
    """Yield what goes on in AWS after Ctrl-C, and how to watch or cancel it.

    Args:
        events: Events of each stack since the operation began.
        region: Region of the stacks.
        again: Command that was run.
    """
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
    """Yield what is said of a failure that no event of a stack tells.

    Args:
        message: Why the CDK CLI failed.
        log: File with all that it has said.
    """
    yield message or "The CDK CLI failed and said nothing"
    yield f"The CDK CLI's output is in {log}."
