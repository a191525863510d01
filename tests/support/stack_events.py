"""Events of stacks as CloudFormation would list them, for tests of what is read from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.stack_events import StackEvent

BEGUN = datetime(2026, 11, 22, 12, tzinfo=UTC)


def stack_id(name: str, number: int = 1) -> str:
    """Return the ARN of a stack; another one of the name has another number."""
    return f"arn:aws:cloudformation:us-west-2:111122223333:stack/{name}/{number}"


def event(
    logical_id: str,
    status: str,
    seconds: float = 0,
    *,
    stack: str = "ml-hyperpod",
    number: int = 1,
    type: str = "AWS::EC2::VPC",
    physical_id: str = "",
    reason: str = "",
) -> StackEvent:
    """Return an event; one of the stack itself, if that is what it is about."""
    own = stack_id(stack, number)
    return StackEvent(
        event_id=f"{own}/{logical_id}-{status}-{seconds}",
        stack_id=own,
        logical_id=logical_id,
        physical_id=own if logical_id == stack else physical_id,
        type="AWS::CloudFormation::Stack" if logical_id == stack else type,
        status=status,
        reason=reason,
        time=BEGUN + timedelta(seconds=seconds),
    )


@dataclass(kw_only=True, slots=True)
class CloudFormation:
    """A CloudFormation client that lists events, a few a page, the latest first.

    Attributes:
        page: Events of a page.
        stacks: Events of each stack, by ID, the earliest first.
        ids: ID of each stack that is there, by name.
        error: What each call raises; None for nothing.
        calls: How many pages were asked for.
    """

    page: int = 3
    stacks: dict[str, list[StackEvent]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    error: ClientError | None = None
    calls: int = 0

    def add(self, *events: StackEvent) -> None:
        """Let something happen."""
        for each in events:
            self.stacks.setdefault(each.stack_id, []).append(each)
            self.ids[each.stack_id.split("/")[1]] = each.stack_id

    def get_paginator(self, operation: str) -> "CloudFormation":
        """Return what lists events."""
        assert operation == "describe_stack_events"
        return self

    def paginate(self, *, StackName: str) -> Iterator[Mapping[str, Any]]:
        """Yield the pages of a stack's events."""
        own = self.ids.get(StackName, StackName)
        if self.error is not None:
            raise self.error
        if own not in self.stacks:
            raise refused("ValidationError", f"Stack [{StackName}] does not exist")
        latest_first = self.stacks[own][::-1]
        for start in range(0, len(latest_first), self.page):
            self.calls += 1
            yield {"StackEvents": [_listed(each) for each in latest_first[start:][: self.page]]}


def refused(code: str, message: str = "no") -> ClientError:
    """Return an error of CloudFormation."""
    error = {"Error": {"Code": code, "Message": message}}
    return ClientError(error, "DescribeStackEvents")  # type: ignore[arg-type] # what is needed of it


def _listed(each: StackEvent) -> Mapping[str, Any]:
    optional = {"PhysicalResourceId": each.physical_id, "ResourceStatusReason": each.reason}
    return {
        "EventId": each.event_id,
        "StackId": each.stack_id,
        "LogicalResourceId": each.logical_id,
        "ResourceType": each.type,
        "ResourceStatus": each.status,
        "Timestamp": each.time,
        **{key: value for key, value in optional.items() if value},
    }


def names(events: Sequence[StackEvent]) -> list[str]:
    """Return what the events are about, and the status each brings."""
    return [f"{each.logical_id} {each.status}" for each in events]
