"""The stack's operation that a request belongs to, as CloudFormation's events show it.

The resource's own event, in progress, precedes its request, and shows its properties: that of an
update a moment before, which the request takes back, shows others. If no event of the last seconds
shows within a minute, the request was delivered again, and belongs to the operation of its
last event; if that is older than ten minutes, AWS shows none, and the newest operation is taken.
DescribeStackEvents lists the newest events first:
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, partial
from typing import Any, NamedTuple

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, is_unknown_stack
from provisioner.framework.request import Request
from provisioner.framework.retry import Clock, aws_pages, aws_retried

Event = Mapping[str, Any]
# CloudFormation gives a custom resource an hour:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes.html
LONGEST_REQUEST_SECONDS = 3540.0
CLOCK_SKEW_SECONDS = 1.0
"""By how much the clocks of Lambda and CloudFormation may differ."""
_LONGEST_DELIVERY_SECONDS = 600.0


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
    """An operation of a stack, by the event that it began with; the status is that from then on."""

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


class Seen(NamedTuple):
    """What the events show.

    Attributes:
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


def look(request: Request, *, begun_at: float, cloudformation: AwsClient, clock: Clock) -> Seen:
    """Return what the events show; of several that may be the own one, the surest."""
    wanted, former = request.properties, request.old_properties
    newest, last, sure, guess = None, None, None, None
    age, is_sure, is_last = float("inf"), False, False
    for event in _events(request.owner.stack_id, cloudformation=cloudformation, clock=clock):
        if _is_of_stack(event):
            operation = _operation(event)
            newest = newest or operation
            if age < float("inf"):
                seen = Seen(newest, last, operation, age, is_sure, is_last)
                age = float("inf")
                if not is_sure:
                    guess = guess or seen
                elif former == wanted or operation.phase is not StackPhase.ROLLING_BACK:
                    return seen
                else:
                    sure = seen
            if operation.began_at < begun_at - LONGEST_REQUEST_SECONDS:
                break
        elif event.get("LogicalResourceId") == request.owner.logical_id:
            last = last or event
            latest = seconds(event) == seconds(last)
            # Those of no request, if it shows none.
            properties = _parsed(event.get("ResourceProperties", ""))
            if sure and properties == wanted:
                continue
            if sure and properties == former:
                return sure
            sure = None  # a rollback of another request, to the same properties
            if _is_own(event, properties, request=request, begun_at=begun_at, is_last=latest):
                age, is_last = begun_at - seconds(event), latest
                is_sure = properties == wanted
    # CloudFormation sends a resource one request at a time: a later event is another one's.
    own = newest if last is None or seconds(last) <= begun_at else None
    return sure or guess or Seen(newest=newest or _GONE, last=last, own=own or _GONE)


def _is_own(
    event: Event, properties: object, *, request: Request, begun_at: float, is_last: bool
) -> bool:
    """Say whether an event may be the one that precedes the request."""
    wanted = request.properties
    if properties == request.old_properties != wanted:
        return False  # it is that of the update that this one takes back
    # What has no answer yet may be delivered once more as long as it is waited for.
    is_long = is_last or properties == wanted
    longest = LONGEST_REQUEST_SECONDS if is_long else _LONGEST_DELIVERY_SECONDS
    is_near = -CLOCK_SKEW_SECONDS < begun_at - seconds(event) < longest
    began = f"{request.type.upper()}_IN_PROGRESS"
    return is_near and event.get("ResourceStatus") == began


def _events(stack_id: str, *, cloudformation: AwsClient, clock: Clock) -> Iterator[Event]:
    """Yield the stack's events, newest first; none when the stack is gone."""
    listing = partial(cloudformation.describe_stack_events, StackName=stack_id)
    try:
        for page in aws_pages(listing, call=partial(aws_retried, clock=clock)):
            yield from page["StackEvents"]
    except AWS_ERRORS as error:
        if not is_unknown_stack(error):
            raise


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
        event_id=event["EventId"], status=event["ResourceStatus"], began_at=seconds(event)
    )


def seconds(event: Event) -> float:
    """Return when an event was, in seconds since the epoch, to the millisecond, as AWS shows it."""
    return round(float(event["Timestamp"].timestamp()), 3)
