"""How far CloudFormation is with a stack, from the stack's events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hyperpod_cli.aws.assembly import CDK_METADATA
from hyperpod_cli.aws.stack_events import StackEvent

_IN_PROGRESS, _FAILED = "_IN_PROGRESS", "_FAILED"
_DONE = ("_COMPLETE", "_SKIPPED")
# A change set is made first, for which a new stack has this status; nothing is created yet.
_NOT_BEGUN = "REVIEW_IN_PROGRESS"


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A resource that CloudFormation waits for.

    Attributes:
        logical_id: Its logical ID.
        type: Its type.
        status: Its status, such as CREATE_IN_PROGRESS.
        since: When it got this status.
    """

    logical_id: str
    type: str
    status: str
    since: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class StackProgress:
    """What is known of an operation on a stack.

    Attributes:
        status: Status of the stack; empty before the operation.
        begun: When the operation began; None before.
        changed: When the stack got its status; None before.
        done: How many resources are done.
        waiting: The resources that CloudFormation waits for, the longest first.
    """

    status: str = ""
    begun: datetime | None = None
    changed: datetime | None = None
    done: int = 0
    waiting: tuple[Waiting, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether CloudFormation is at work."""
        return self.status.endswith(_IN_PROGRESS) and self.status != _NOT_BEGUN

    @property
    def is_over(self) -> bool:
        """Whether the operation has ended, well or badly."""
        return self.status.endswith((*_DONE, _FAILED))

    @property
    def has_failed(self) -> bool:
        """Whether it went wrong, even if the stack is still being rolled back."""
        return "ROLLBACK" in self.status or self.status.endswith(_FAILED)


def progress_of(events: Iterable[StackEvent]) -> StackProgress:
    """Return how far an operation is.

    Args:
        events: Events of the stack since the operation began, the earliest first.
    """
    status, begun, changed = "", None, None
    waiting: dict[str, Waiting] = {}
    done: set[str] = set()
    for event in events:
        if event.is_of_stack:
            if event.status != status:
                status, changed = event.status, event.time
            begun = begun if begun is not None else event.time
        elif event.type == CDK_METADATA:
            continue
        elif event.status.endswith(_IN_PROGRESS):
            done.discard(event.logical_id)
            found = waiting.get(event.logical_id)
            # The second event says that the creation was initiated.
            if found is None or found.status != event.status:
                waiting[event.logical_id] = Waiting(
                    logical_id=event.logical_id,
                    type=event.type,
                    status=event.status,
                    since=event.time,
                )
        else:
            waiting.pop(event.logical_id, None)
            if event.status.endswith(_DONE):
                done.add(event.logical_id)
    over = StackProgress(status=status).is_over
    return StackProgress(
        status=status,
        begun=begun,
        changed=changed,
        done=len(done),
        # The last events of a stack that is done may not have been read.
        waiting=() if over else tuple(sorted(waiting.values(), key=lambda each: each.since)),
    )
