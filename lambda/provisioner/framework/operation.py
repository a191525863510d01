"""Whose turn it is: the stack's operation that a request belongs to, and whether it is still on.

CloudFormation does not stop the function or the waiter of a request that it has given up, so each
asks for its turn before it changes anything. An operation begins with an event of the stack itself,
whose id no other operation has.

| events, the newest first                                        | the request            |
|-----------------------------------------------------------------|------------------------|
| the resource's, in progress; the stack's                        | has its turn           |
| the stack's, which began later                                  | is given up            |
| the resource's, complete or failed                              | is given up            |
| the resource's of another request; no younger one               | the read may be late   |

The resource's own event, in progress, precedes its request, and shows its properties: that of an
update a moment before, which the request takes back, shows others. If no event of the last seconds
shows within half a minute, the request was delivered again, and belongs to the operation of its
last event; if that is older than ten minutes, AWS shows none, and the newest operation is taken.
DescribeStackEvents lists the newest events first:
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol, TypeVar

from hyperpod_shared.aws_errors import AWS_ERRORS, is_transient, is_unknown_stack
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.framework import log
from provisioner.framework.request import Request
from provisioner.framework.retry import Answer, Clock, aws_pages, aws_retried

Event = Mapping[str, Any]
T = TypeVar("T")
# CloudFormation gives a custom resource an hour:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes.html
_LONGEST_REQUEST_SECONDS = 3540.0
# The resource's own event comes before its request. One that is older says that the read is late,
# or that the request is delivered again.
_OWN_EVENT_SECONDS = 20.0
_LONGEST_DELIVERY_SECONDS = 600.0
_CLOCK_SKEW_SECONDS = 0.1
_LATE_READ_SECONDS = 30.0
_READ_AGAIN_SECONDS = 5.0


class CloudFormationApi(Protocol):
    """What a stack is doing."""

    def describe_stack_events(  # noqa: D102 - AWS's own
        self, *, StackName: str, NextToken: str = ""
    ) -> Answer: ...


class StackPhase(Enum):
    """What a StackStatus means for a request about one of the stack's resources.

    The statuses are those of
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html.
    """

    DEPLOYING = auto()
    """The stack is on its way to what the template says."""
    ROLLING_BACK = auto()
    """A failed deployment is being undone."""
    DELETING = auto()
    """A user deletes the stack, or it is gone."""
    SETTLED = auto()
    """Nothing is under way but the removal of what was replaced."""

    @classmethod
    def of(cls, status: str) -> "StackPhase":
        """Return the phase that a StackStatus stands for."""
        if status.startswith("DELETE_"):
            return cls.DELETING
        if not status.endswith("_IN_PROGRESS"):
            return cls.SETTLED
        if "ROLLBACK" in status:
            return cls.ROLLING_BACK
        return cls.SETTLED if "CLEANUP" in status else cls.DEPLOYING


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of a stack, by the event that it began with.

    Attributes:
        event_id: The event's id.
        status: The stack's status from then on.
        began_at: When that was, in seconds since the epoch.
    """

    event_id: str
    status: str
    began_at: float

    @property
    def phase(self) -> StackPhase:
        """What the stack does in it."""
        return StackPhase.of(self.status)

    @classmethod
    def parse(cls, text: str) -> "Operation | None":
        """Return the operation that a text stands for; None if it stands for none."""
        event_id, _, rest = text.partition(" ")
        status, _, began_at = rest.partition(" ")
        try:
            return cls(event_id=event_id, status=status, began_at=float(began_at))
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.event_id} {self.status} {self.began_at!r}"


_GONE = Operation(event_id="", status="DELETE_COMPLETE", began_at=0.0)


class GivenUpError(ProvisioningError):
    """CloudFormation has given the request up, which must not change anything any more."""


class Turn:
    """The turn of one request in one invocation of the function.

    Args:
        request: The request; one that is polled says to which operation it belongs.
        cloudformation: Lists the stack's events.
        clock: Time and sleep.

    Attributes:
        sent_at: When CloudFormation sent the request, as far as its events show: `on_event` may be
            delivered again.
        clock: Time and sleep; what remains ends when CloudFormation gives the request up, too.
    """

    def __init__(
        self, request: Request, *, cloudformation: CloudFormationApi, clock: Clock
    ) -> None:
        self._begun_at = clock.now() if request.begun_at is None else request.begun_at
        self.sent_at = self._begun_at
        self.clock = Clock(
            now=clock.now,
            sleep=clock.sleep,
            remaining=lambda: min(clock.remaining(), _LONGEST_REQUEST_SECONDS - self.waited),
        )
        self._request = request
        self._known = Operation.parse(request.operation or "")
        self._cloudformation = cloudformation
        self._operation: Operation | None = None

    @property
    def waited(self) -> float:
        """For how many seconds the request is under way."""
        return self.clock.now() - self.sent_at

    @property
    def operation(self) -> Operation:
        """The operation that the request belongs to; CloudFormation is asked once."""
        if self._operation is None:
            self._operation = self._found(self._first_look())
        return self._operation

    def _found(self, seen: "_Seen") -> Operation:
        known = self._known
        if known is None or (seen.is_shown and seen.own.began_at > known.began_at):
            return seen.own
        return seen.newest if self._is_of_newest(seen) else known

    def _is_of_newest(self, seen: "_Seen") -> bool:
        """Say whether the request can only be the newest operation's, which does not show it."""
        began_before = seen.newest.began_at <= self._begun_at + _CLOCK_SKEW_SECONDS
        shows_another = seen.last is not None and _seconds(seen.last) > self._begun_at
        return began_before and not (seen.is_sure or shows_another or self._is_early())

    def _is_early(self) -> bool:
        return self.clock.now() < self._begun_at + 2 * _LATE_READ_SECONDS

    @property
    def is_known(self) -> bool:
        """Whether the operation is known; else asking for it calls CloudFormation."""
        return self._operation is not None

    @property
    def phase(self) -> StackPhase | None:
        """What the stack does in the request's operation.

        None if CloudFormation refuses to tell a Delete: what it deletes is not wanted.
        """
        try:
            return self.operation.phase
        except AWS_ERRORS as error:
            self._pass_over(error)
            return None

    @property
    def rolls_back(self) -> bool:
        """Whether the request is an Update that takes back one that failed."""
        return self._request.type == "Update" and self.phase is StackPhase.ROLLING_BACK

    @property
    def takes_back(self) -> bool:
        """Whether the stack rolled back when `on_event` began, as far as it could find out."""
        return self._known is not None and self._known.phase is StackPhase.ROLLING_BACK

    @property
    def may_overlap(self) -> bool:
        """Whether a run of the request that is taken back may not see yet that it is given up."""
        return self.takes_back and self.clock.now() < self._begun_at + _LATE_READ_SECONDS

    def change(self, call: Callable[[], T]) -> T:
        """Make a call of AWS while it is the request's turn, again if its error passes by itself.

        Raises:
            GivenUpError: The request has its turn no more.
        """

        def attempt() -> T:
            self.require()
            return call()

        return aws_retried(attempt, clock=self.clock)

    def require(self) -> None:
        """Ask whether the request still has its turn.

        Raises:
            GivenUpError: It has not.
            NotReadyError: It may have; what was known of the stack is out of date.
        """
        try:
            seen = self._look() if self._operation else self._first_look()
            own = self._operation = self._operation or self._found(seen)
        except AWS_ERRORS as error:
            self._pass_over(error)
            return
        is_newer = seen.newest.began_at > own.began_at
        may_be_own = seen.newest.began_at <= self._begun_at + _CLOCK_SKEW_SECONDS
        is_late = seen.is_shown and seen.own.began_at > own.began_at
        if is_late or (is_newer and may_be_own and self._is_early()):
            raise NotReadyError(
                f"The events of the stack were late: it is {seen.newest.status}",
                next_step="Deploy again.",
            )
        if is_newer or _is_answered(seen, own):
            raise GivenUpError(
                f"{self._request} was given up by CloudFormation and changes nothing any more",
                detail=f"the stack is {seen.newest.status} by now",
                next_step="Wait for the stack's present operation.",
            )

    def _pass_over(self, error: Exception) -> None:
        """Let a Delete go on when CloudFormation refuses to say: what it deletes is not wanted."""
        if self._request.type != "Delete" or is_transient(error):
            raise error
        log.warning("the stack is not known", cause=str(error))

    def _first_look(self) -> "_Seen":
        """Look; wait a little as the request begins if the read may be late."""
        while True:
            seen = self._look()
            waited = self.clock.now() - self._begun_at
            begins = self._request.begun_at is None
            can_wait = begins and waited < _LATE_READ_SECONDS < self.clock.remaining()
            is_late = seen.age > _OWN_EVENT_SECONDS or not seen.is_last
            if not (is_late and can_wait):
                is_shown = seen.is_sure or _OWN_EVENT_SECONDS < seen.age < float("inf")
                if is_shown and self._known is None:  # else this look may be later than that one
                    self.sent_at = self._begun_at - seen.age
                return seen
            log.info("the stack's events may be late", operation=str(seen.newest))
            self.clock.sleep(_READ_AGAIN_SECONDS)

    def _look(self) -> "_Seen":
        """Return what the events show; of several that may be the own one, the surest."""
        wanted, former = self._request.properties, self._request.old_properties
        newest, last, sure, guess = None, None, None, None
        age, is_sure, is_last = float("inf"), False, False
        for event in self._events():
            if _is_of_stack(event):
                operation = _operation(event)
                newest = newest or operation
                if age < float("inf"):
                    seen = _Seen(
                        newest=newest,
                        last=last,
                        own=operation,
                        age=age,
                        is_sure=is_sure,
                        is_last=is_last,
                    )
                    age = float("inf")
                    if not is_sure:
                        guess = guess or seen
                    elif former == wanted or operation.phase is not StackPhase.ROLLING_BACK:
                        return seen
                    else:
                        sure = seen
                if operation.began_at < self._begun_at - _LONGEST_REQUEST_SECONDS:
                    break
            elif event.get("LogicalResourceId") == self._request.owner.logical_id:
                last = last or event
                properties, latest = _properties(event), _seconds(event) == _seconds(last)
                if sure and properties == wanted:
                    continue
                if sure and properties == former:
                    return sure
                sure = None  # a rollback of another request, to the same properties
                if self._is_own(event, properties, is_last=latest):
                    age, is_last = self._begun_at - _seconds(event), latest
                    is_sure = properties == wanted
        # CloudFormation sends a resource one request at a time: a later event is another one's.
        own = newest if last is None or _seconds(last) <= self._begun_at else None
        return sure or guess or _Seen(newest=newest or _GONE, last=last, own=own or _GONE)

    def _is_own(self, event: Event, properties: object, *, is_last: bool) -> bool:
        """Say whether an event may be the one that precedes the request."""
        wanted = self._request.properties
        if properties == self._request.old_properties != wanted:
            return False  # it is that of the update that this one takes back
        # What has no answer yet may be delivered once more as long as it is waited for.
        is_long = is_last or properties == wanted
        longest = _LONGEST_REQUEST_SECONDS if is_long else _LONGEST_DELIVERY_SECONDS
        is_near = -_CLOCK_SKEW_SECONDS < self._begun_at - _seconds(event) < longest
        began = f"{self._request.type.upper()}_IN_PROGRESS"
        return is_near and event.get("ResourceStatus") == began

    def _events(self) -> Iterator[Event]:
        """Yield the stack's events, newest first; none when the stack is gone."""
        listing = partial(
            self._cloudformation.describe_stack_events, StackName=self._request.owner.stack_id
        )
        try:
            for page in aws_pages(listing, call=partial(aws_retried, clock=self.clock)):
                yield from page["StackEvents"]
        except AWS_ERRORS as error:
            if not is_unknown_stack(error):
                raise


class _Seen(NamedTuple):
    """What the events show.

    Attributes:
        newest: The stack's newest operation.
        last: The resource's last event; None if it has none.
        own: The operation in which the resource has its last event before the request.
        age: How long before the request that event was, in seconds.
        is_sure: Whether that event shows the request's properties.
        is_last: Whether the resource has no later event.
    """

    newest: Operation
    last: Event | None
    own: Operation
    age: float = float("inf")
    is_sure: bool = False
    is_last: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether the resource has an event before the request."""
        return self.age < float("inf")


def _is_answered(seen: _Seen, own: Operation) -> bool:
    """Say whether the resource's last event ends the request; a late look shows another's."""
    if seen.last is None or seen.own != own or not seen.is_shown:
        return False
    return not seen.last.get("ResourceStatus", "_IN_PROGRESS").endswith("_IN_PROGRESS")


def _properties(event: Event) -> object:
    """Return the properties that an event shows; those of no request if it shows none."""
    return _parsed(event.get("ResourceProperties", ""))


@lru_cache(maxsize=64)  # each look shows the same events again
def _parsed(properties: str) -> object:
    try:
        return _as_sent(json.loads(properties))
    except ValueError:
        return ""


def _as_sent(value: object) -> object:
    """Return properties as a request has them: every primitive is a string."""
    if isinstance(value, Mapping):
        return {key: _as_sent(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_as_sent, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_of_stack(event: Event) -> bool:
    """Say whether an event is one that an operation of the stack begins or ends with."""
    is_whole = not (event.get("DetailedStatus") or event.get("HookType"))
    is_stacks = event.get("PhysicalResourceId") == event["StackId"]
    return bool(is_stacks and is_whole and event.get("ResourceStatus"))


def _operation(event: Event) -> Operation:
    return Operation(
        event_id=event["EventId"], status=event["ResourceStatus"], began_at=_seconds(event)
    )


def _seconds(event: Event) -> float:
    return float(event["Timestamp"].timestamp())
