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
| the resource's, in progress, that began another one             | is given up            |

What the events show is found in `operation`. The journal says at once when a later request has the
resource; the events say it also where that one has not begun yet.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, is_transient
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.framework import log
from provisioner.framework.journal import Entry, Journal
from provisioner.framework.operation import (
    CLOCK_SKEW_SECONDS,
    LONGEST_REQUEST_SECONDS,
    Operation,
    Seen,
    StackPhase,
    look,
    seconds,
)
from provisioner.framework.request import Request
from provisioner.framework.retry import Clock, aws_retried

T = TypeVar("T")
# The resource's own event comes before its request. One that is older says that the read is late,
# or that the request is delivered again.
_OWN_EVENT_SECONDS = 20.0
_LATE_READ_SECONDS = 50.0
# The call that a run is making, as the journal says that it has been given up.
_LONGEST_CALL_SECONDS = 30.0
_READ_AGAIN_SECONDS = 5.0
_MOST_FORMER = 9


class GivenUpError(ProvisioningError):
    """CloudFormation has given the request up, which must not change anything any more."""


class Turn:
    """The turn of one request in one invocation of the function.

    CloudFormation sent the request at `sent_at`, as far as its events show: `on_event` may be
    delivered again. The resource's id, `<place>/<physical id>`, names its item in the journal.
    """

    def __init__(
        self,
        request: Request,
        *,
        cloudformation: AwsClient,
        journal: Callable[[str, Clock], Journal],
        clock: Clock,
    ) -> None:
        self._begun_at = clock.now() if request.begun_at is None else request.begun_at
        self.sent_at = self._begun_at
        self.clock = Clock(
            now=clock.now,
            sleep=clock.sleep,
            remaining=lambda: min(clock.remaining(), LONGEST_REQUEST_SECONDS - self.waited),
        )
        self.request = request
        self._known = Operation.parse(request.operation or "")
        self._cloudformation = cloudformation
        self._operation: Operation | None = None
        self._is_shown = False
        self._is_repeated = False
        self._journal_of = journal
        self._entry: Entry | None = None
        self.resource_id = request.resource_type

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

    def _found(self, seen: Seen) -> Operation:
        known = self._known
        if known is None or (seen.is_shown and seen.own.began_at > known.began_at):
            return seen.own
        return seen.newest if self._is_of_newest(seen) else known

    def _is_of_newest(self, seen: Seen) -> bool:
        """Say whether the request can only be the newest operation's, which does not show it."""
        began_before = seen.newest.began_at <= self._begun_at + CLOCK_SKEW_SECONDS
        shows_another = seen.last is not None and seconds(seen.last) > self._begun_at
        return began_before and not (seen.is_sure or shows_another or self._is_early())

    def _is_early(self) -> bool:
        return self.clock.now() < self._begun_at + 2 * _LATE_READ_SECONDS

    @property
    def may_delete_stack(self) -> bool:
        """Whether a Delete may be a part of the stack's deletion: what is not known may be so."""
        return self.phase in {StackPhase.DELETING, None} or not self._is_shown

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
        return self.request.type == "Update" and self.phase is StackPhase.ROLLING_BACK

    @property
    def takes_back(self) -> bool:
        """Whether the stack rolled back when `on_event` began, as far as it could find out."""
        return self._known is not None and self._known.phase is StackPhase.ROLLING_BACK

    @property
    def may_overlap(self) -> bool:
        """Whether a run of the request that is taken back may not see yet that it is given up."""
        return self.takes_back and self.clock.now() < self._begun_at + _LONGEST_CALL_SECONDS

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
        """Ask whether the request still has its turn, and take the resource if no request has it.

        Raises:
            GivenUpError: It has not.
            NotReadyError: It may have; what was known of the stack, or noted, is out of date.
        """
        entry = self._journal.read()
        self._require_events()
        if entry.request != self.request.request_id:
            entry = self._taken(entry)
        if self._entry is not None and entry.version != self._entry.version:
            raise NotReadyError(  # by what it knows, it would write over the other one's notes
                f"Another attempt at {self.request} has written since", next_step="Deploy again."
            )
        self._entry = entry

    @property
    def entry(self) -> Entry:
        """What is noted of the resource, which the request has."""
        if self._entry is None:
            self.require()
        return self._entry or Entry()

    def note(self, notes: Mapping[str, Any], *, is_gone: bool = False) -> None:
        """Note something about the resource; `is_gone` says that the note may go some time later.

        Raises:
            NotReadyError: Another request has the resource.
        """
        self._entry = self._journal.write(replace(self.entry, notes=notes), is_gone=is_gone)

    @property
    def _journal(self) -> Journal:
        return self._journal_of(self.resource_id, self.clock)

    def _taken(self, entry: Entry) -> Entry:
        operation = self._operation.began_at if self._operation else self._begun_at
        is_former = self.request.request_id in entry.former
        is_later = entry.is_later(operation=operation, began_at=self._begun_at)
        # An operation that is known sends a resource one request: it is that of another one.
        is_others = bool(entry.request and operation) and entry.operation == operation
        if (is_later or is_others) and self._is_early() and not is_former:
            raise self._unshown("they do not show this request yet")
        if is_former or is_later or (is_others and self._is_repeated):
            raise self._given_up("a later request has the resource")
        return self._journal.write(
            replace(
                entry,
                request=self.request.request_id,
                former=(*entry.former[-_MOST_FORMER:], entry.request),
                operation=operation,
                began_at=self._begun_at,
            )
        )

    def _unshown(self, what: str) -> NotReadyError:
        """Return what to raise if the events were late; forget what they showed."""
        self._operation, self.sent_at = None, self._begun_at
        return NotReadyError(
            f"The events of the stack were late: {what}", next_step="Deploy again."
        )

    def _given_up(self, why: str) -> GivenUpError:
        return GivenUpError(
            f"{self.request} was abandoned by CloudFormation and makes no further changes",
            detail=why,
            next_step="Wait until the current operation of the stack ends.",
        )

    def _require_events(self) -> None:
        try:
            seen = self._look() if self._operation else self._first_look()
            own = self._operation = self._operation or self._found(seen)
        except AWS_ERRORS as error:
            self._pass_over(error)
            return
        is_newer = seen.newest.began_at > own.began_at
        may_be_own = seen.newest.began_at <= self._begun_at + CLOCK_SKEW_SECONDS
        is_late = seen.is_shown and seen.own.began_at > own.began_at
        if is_late or (is_newer and may_be_own and self._is_early()):
            raise self._unshown(f"it is {seen.newest.status}")
        is_answered = _is_answered(seen, own)
        if is_answered and not (is_newer or seen.is_sure) and self._is_early():
            raise self._unshown("they show the request before")
        if is_newer or is_answered:
            raise self._given_up(f"the stack is {seen.newest.status} by now")

    def _pass_over(self, error: Exception) -> None:
        """Let a Delete go on when CloudFormation refuses to say: what it deletes is not wanted."""
        if self.request.type != "Delete" or is_transient(error):
            raise error
        log.warning("the stack is not known", cause=str(error))

    def _first_look(self) -> Seen:
        """Look; wait a little as the request begins if the read may be late."""
        while True:
            seen = self._look()
            waited = self.clock.now() - self._begun_at
            begins = self.request.begun_at is None
            can_wait = begins and waited < _LATE_READ_SECONDS < self.clock.remaining()
            is_late = seen.age > _OWN_EVENT_SECONDS or not seen.is_last
            if not (is_late and can_wait):
                is_shown = seen.is_sure or self._is_repeated
                if is_shown and self._known is None:  # else this look may be later than that one
                    self.sent_at = self._begun_at - seen.age
                return seen
            log.info("the stack's events may be late", operation=str(seen.newest))
            self.clock.sleep(_READ_AGAIN_SECONDS)

    def _look(self) -> Seen:
        seen = look(
            self.request,
            begun_at=self._begun_at,
            cloudformation=self._cloudformation,
            clock=self.clock,
        )
        self._is_shown = seen.is_shown
        self._is_repeated = _OWN_EVENT_SECONDS < seen.age < float("inf")
        return seen


def _is_answered(seen: Seen, own: Operation) -> bool:
    """Say whether the resource's last event ends the request; a late look shows another's."""
    if seen.last is None or seen.own != own or not seen.is_shown:
        return False
    return not seen.last.get("ResourceStatus", "_IN_PROGRESS").endswith("_IN_PROGRESS")
