"""Follows stacks while the CDK CLI has CloudFormation work on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.stack_events import StackEvent, StackReader, nested_events
from hyperpod_cli.stack_progress.progress import (
    Display,
    Followed,
    Moment,
    StackProgress,
    progress_of,
)

_Read = TypeVar("_Read")

POLL_SECONDS = 5.0
# Events may be listed some time after the CLI has seen the end.
_LATE_READS = 4


@dataclass(kw_only=True, slots=True)
class Operation:
    """Follows an operation on stacks."""

    client: Any
    stacks: Sequence[Followed]
    poll_seconds: float = POLL_SECONDS
    sleep: Callable[[float], None] = time.sleep
    _readers: dict[str, StackReader] = field(init=False)
    _events: dict[str, list[StackEvent]] = field(init=False, default_factory=dict)
    _trouble: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Make a reader for each stack."""
        self._readers = {
            stack.name: StackReader(client=self.client, name=stack.name) for stack in self.stacks
        }

    def begin(self) -> None:
        """Take what has happened to the stacks so far as former."""
        for reader in self._readers.values():
            self._trying(reader.begin)

    def follow(self, wait: Callable[[float], int | None], *, display: Display) -> int:
        """Show the progress until the command ends; return its exit code.

        `wait` waits for it for up to so many seconds, and returns None while it runs.
        """
        code = None
        while code is None:
            display.show(self.read())
            code = wait(self.poll_seconds)
        moment = self.read()
        for _ in range(_LATE_READS):
            if not self._may_be_late(moment, code):
                break
            self.sleep(self.poll_seconds)
            moment = self.read()
        display.show(moment, ended=True)
        return code

    def read(self) -> Moment:
        """Read what has happened, and return what is known of each stack."""
        now = datetime.now(UTC)
        self._trouble = None
        for name, reader in self._readers.items():
            events = self._trying(reader.read)
            self._events[name] = self._events.get(name, []) if events is None else events
        return Moment(
            progress={name: progress_of(events) for name, events in self._events.items()},
            now=now,
            trouble=self._trouble,
        )

    @property
    def events(self) -> Mapping[str, Sequence[StackEvent]]:
        """The events of each stack since the operation began, without those of nested stacks."""
        return self._events

    def events_with_nested(self) -> Mapping[str, Sequence[StackEvent]]:
        """Return the events of each stack and of the nested stacks in it that failed."""
        by_stack: dict[str, Sequence[StackEvent]] = {}
        for name, events in self._events.items():
            nested = self._trying(partial(nested_events, self.client, events))
            by_stack[name] = [*events, *(nested or ())]
        return by_stack

    def _trying(self, read: Callable[[], _Read]) -> _Read | None:
        """Read, or remember why that was not possible: the operation goes on either way."""
        try:
            return read()
        except (BotoCoreError, ClientError) as error:
            self._trouble = f"cannot be followed: {one_line(error)}"
            return None

    def _may_be_late(self, moment: Moment, code: int) -> bool:
        """Return whether the last events may be missing: the CLI is done, and a stack is not."""
        known: Sequence[StackProgress] = [*moment.progress.values()]
        unfinished = any(each.is_running for each in known)
        untold = code != 0 and not any(each.has_failed for each in known)
        return unfinished or (untold and any(each.begun for each in known))
