"""The events of stacks, read while CloudFormation works on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import AwsClient
from hyperpod_shared.aws_errors import is_unknown_stack

_NESTED = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackEvent:
    """An event of a stack, or of a resource in it.

    For the stack, the logical ID is its name. The physical ID of a resource is empty before it has
    one; the reason of a status is often empty.
    """

    event_id: str
    stack_id: str
    logical_id: str
    physical_id: str
    type: str
    status: str
    reason: str
    time: datetime

    @property
    def is_of_stack(self) -> bool:
        """Whether it is about the stack itself."""
        return self.physical_id == self.stack_id

    @property
    def nested_stack(self) -> str | None:
        """ARN of the nested stack that the resource is; None for any other resource."""
        is_nested = self.type == _NESTED and not self.is_of_stack
        return self.physical_id if is_nested and self.physical_id else None


@dataclass(kw_only=True, slots=True)
class StackReader:
    """Reads what happens to one stack from now on; `read` answers with all of it each time.

    A stack may not be there yet, go while it is read, and come back with another ID, as one whose
    creation was rolled back does. Reads may lag: an event may appear behind one that is known.
    """

    client: Any
    name: str
    _former: dict[str, StackEvent] = field(init=False, default_factory=dict)
    _known: dict[str, StackEvent] = field(init=False, default_factory=dict)
    _stack_id: str | None = field(init=False, default=None)

    def begin(self) -> None:
        """Take what has happened so far as former."""
        page = next(self._pages(self.name), [])
        self._former = {event.event_id: event for event in page}
        self._known = {}
        self._stack_id = page[0].stack_id if page else None

    def read(self) -> list[StackEvent]:
        """Return the events since `begin`, the earliest first."""
        if not self._read(self.name) and self._stack_id is not None:
            self._read(self._stack_id)  # a deleted stack has events by its ID alone
        # CloudFormation lists the latest first, also those of the same moment.
        return sorted(reversed(self._known.values()), key=lambda event: event.time)

    def _read(self, name: str) -> bool:
        """Read what is new; return whether there is such a stack."""
        found: dict[str, StackEvent] = {}
        there = False
        for page in self._pages(name):
            there = True
            if page[0].stack_id != self._stack_id:  # another stack of this name
                self._stack_id, self._former, self._known = page[0].stack_id, {}, {}
            found |= {event.event_id: event for event in page if self._is_new(event)}
            last = page[-1]
            if last.event_id in self._known or not self._is_new(last):
                break
        self._known = found | {key: each for key, each in self._known.items() if key not in found}
        return there

    def _is_new(self, event: StackEvent) -> bool:
        earliest = min((each.time for each in self._former.values()), default=event.time)
        return event.event_id not in self._former and event.time >= earliest

    def _pages(self, name: str) -> Iterator[list[StackEvent]]:
        try:
            pages = self.client.get_paginator("describe_stack_events").paginate(StackName=name)
            for page in pages:
                if page["StackEvents"]:
                    yield [_event(each) for each in page["StackEvents"]]
        except ClientError as error:
            if not is_unknown_stack(error):
                raise


def nested_events(client: AwsClient, events: Iterable[StackEvent]) -> list[StackEvent]:
    """Return the events of the nested stacks that failed, and of those inside them."""
    failed = {each.nested_stack for each in events if each.nested_stack and "FAILED" in each.status}
    found: list[StackEvent] = []
    for stack_id in failed:
        reader = StackReader(client=client, name=stack_id)
        own = reader.read()
        found += [*own, *nested_events(client, own)]
    return found


def _event(described: Mapping[str, Any]) -> StackEvent:
    return StackEvent(
        event_id=described["EventId"],
        stack_id=described["StackId"],
        logical_id=described["LogicalResourceId"],
        physical_id=described.get("PhysicalResourceId", ""),
        type=described["ResourceType"],
        status=described["ResourceStatus"],
        reason=described.get("ResourceStatusReason", ""),
        time=described["Timestamp"],
    )
