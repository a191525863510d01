"""Virtual time, and the faults of the calls that are made in it.

One agenda holds everything that is going to happen. Time passes while a run of the function calls a
service or sleeps, and what is due in that span happens then, in the middle of the run: another one
goes on, the stack turns, an operator changes something.
"""

import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from random import Random
from typing import Any, TypeVar

from botocore.exceptions import ClientError, ReadTimeoutError
from greenlet import getcurrent, greenlet

from tests.support.provisioner.fake_s3 import client_error

T = TypeVar("T")
Row = tuple[float, str, str, tuple[object, ...]]
"""When, who, what, and what its text is filled in with."""

STARTS_AT = 1_800_000_000.0
_MOST_KILLS = 2
"""Lambda repeats an asynchronous invocation twice; a request that is never heard has no answer."""
LONGEST_RUN_SECONDS = 840.0
"""The function's timeout."""


class KilledError(BaseException):
    """The function was stopped in the middle; nothing in it may catch this."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What goes wrong in a history, and how often.

    Attributes:
        bursts: Spans in seconds since the beginning in which all calls of a service are refused.
        garbled: How often an answer that can be is without what it is to have.
        describe_lag: By how many seconds DescribeCluster and ListTags lag at most.
        stack_lag: By how many seconds reads of CloudFormation lag at most.
        skew: By how many seconds Lambda's clock is before the others.
        hidden: Whether the stack's events do not show properties, which are optional.
        steady: Whether reads lag by always the same time; otherwise each by its own.
        turns_back: Whether a read may show what was before that which another one has shown.
        at: The calls by number, each with its fault; None: they are drawn by the shares above.
    """

    throttled: float = 0.0
    lost: float = 0.0
    killed: float = 0.0
    garbled: float = 0.0
    bursts: tuple[tuple[str, float, float], ...] = ()
    describe_lag: float = 0.0
    stack_lag: float = 0.0
    skew: float = 0.0
    hidden: bool = False
    steady: bool = True
    turns_back: bool = False
    at: tuple[tuple[int, str], ...] | None = None


@dataclass(kw_only=True)
class Invocation:
    """One run of the function.

    Attributes:
        request: Whose run it is; the model notes it with what it changes.
    """

    who: str
    request: Any
    begun_at: float


class _Fiber(greenlet):
    """What runs the function: it goes on where it gave way, and never beside another one."""

    about: Invocation | None = None


@dataclass(kw_only=True)
class World:
    """Time, chance and what has happened."""

    seed: int
    faults: Faults
    now: float = STARTS_AT
    rows: list[Row] = field(default_factory=list)
    drawn: list[tuple[int, str]] = field(default_factory=list)
    calls: int = 0
    calm: bool = False

    def __post_init__(self) -> None:
        """Give faults a chance of their own, so that fewer of them change nothing else."""
        self.random = Random(f"world {self.seed}")  # noqa: S311 - a game of chance
        self._chance = Random(f"faults {self.seed}")  # noqa: S311
        self._given = None if self.faults.at is None else dict(self.faults.at)
        self._agenda: list[tuple[float, int, bool, Callable[[], None]]] = []
        self._entries = 0
        self._outside: Invocation | None = None
        self._main = getcurrent()
        self._fiber: _Fiber | None = None
        self._asleep: dict[_Fiber, None] = {}
        self._closed = False
        self._limit = float("inf")

    @property
    def invocation(self) -> Invocation:
        found = self._outside if self._fiber is None else self._fiber.about
        assert isinstance(found, Invocation)
        return found

    @property
    def elapsed(self) -> float:
        return self.now - STARTS_AT

    def note(self, who: str, what: str, *facts: object) -> None:
        """Remember what happens; its text is made only if somebody reads it."""
        self.rows.append((self.now, who, what, facts))

    def after(self, seconds: float, action: Callable[[], None], *, invokes: bool = False) -> None:
        """Let something happen after some seconds, in a run of the function or not."""
        self._entries += 1
        heapq.heappush(self._agenda, (self.now + seconds, self._entries, invokes, action))

    def sleep(self, seconds: float) -> None:
        until, fiber = self.now + seconds, self._fiber
        if fiber is None:
            # A run must not sleep beyond it either.
            self._limit = until
            while self._agenda and self._agenda[0][0] <= until:
                self._happen()
            self._limit = float("inf")
            self.now = max(self.now, until)
        elif (self._agenda and self._agenda[0][0] <= until) or self._limit < until:
            self._asleep[fiber] = None
            self.after(seconds, lambda: self._go_on(fiber))
            self._main.switch()
            if self._closed:
                raise KilledError
        else:
            self.now = until

    def run(self, done: Callable[[], bool]) -> None:
        """Let time pass until something is so, or nothing is left to happen."""
        while self._agenda and not done():
            self._happen()

    def _happen(self) -> None:
        at, _, invokes, action = heapq.heappop(self._agenda)
        self.now = max(self.now, at)
        if invokes:
            self._go_on(_Fiber(action))
        else:
            action()

    def _go_on(self, fiber: _Fiber) -> None:
        self._asleep.pop(fiber, None)
        self._fiber = fiber
        try:
            fiber.switch()
        finally:
            self._fiber = None

    def close(self) -> None:
        """End all runs that are under way, as if each were killed."""
        self._closed = True
        while self._asleep:
            self._go_on(next(iter(self._asleep)))

    @contextmanager
    def invoked(self, who: str, request: object) -> Iterator[Invocation]:
        """Let what is done be done by a run of the function."""
        invocation = Invocation(who=who, request=request, begun_at=self.now)
        if self._fiber is None:
            self._outside = invocation
        else:
            self._fiber.about = invocation
        yield invocation

    def call(
        self,
        service: str,
        operation: str,
        effect: Callable[[], T],
        *,
        garble: Callable[[T], T] | None = None,
    ) -> T:
        """Make a call to AWS: it takes time, and may go wrong, or have its effect."""
        invocation = self.invocation
        self.sleep(self.random.uniform(0.05, 0.3))
        if self.now - invocation.begun_at > LONGEST_RUN_SECONDS:
            self.note(invocation.who, "timed out in %s", operation)
            raise KilledError
        fault = self.fault(service, may_be_garbled=garble is not None)
        if fault is None:
            return effect()
        self.note(invocation.who, "%s: %s", operation, fault)
        if fault == "garbled" and garble is not None:
            answer: T = garble(effect())
            return answer
        if fault == "throttled":
            raise throttling(operation)
        if fault == "killed before":
            raise KilledError
        try:
            effect()
        except ClientError:
            if fault == "killed after":
                raise KilledError from None
            raise
        if fault == "killed after":
            raise KilledError
        self.sleep(1.0)
        if fault == "lost and repeated":
            # botocore repeats a call of which it has no answer; the service may see it twice.
            try:
                return effect()
            except ClientError as error:
                error.response.setdefault("ResponseMetadata", {})["RetryAttempts"] = 1  # type: ignore[typeddict-item]
                raise
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url=f"https://{service}.us-west-2.amazonaws.com/")
        raise client_error("InternalFailure", operation, "Please try again", status=500)

    def fault(self, service: str, *, may_be_garbled: bool = False) -> str | None:
        """Return what goes wrong with the next call of a service, if anything does."""
        if self.calm:
            return None
        self.calls += 1
        faults, number = self.faults, self.calls
        if self._given is not None:
            fault = self._given.get(number)
            if fault is not None:
                self._hit(number, fault)
            return fault
        fault = None
        draw = self._chance.random()
        if draw < faults.throttled or (faults.bursts and self._is_in_burst(service)):
            fault = "throttled"
        elif draw < faults.throttled + faults.lost:
            fault = ("lost", "lost by 500", "lost and repeated")[int(draw * 1e6) % 3]
        elif draw < faults.throttled + faults.lost + faults.killed:
            fault = ("killed before", "killed after")[int(draw * 1e6) % 2]
        elif may_be_garbled and draw > 1.0 - faults.garbled:
            fault = "garbled"
        if fault is not None and fault.startswith("killed") and self._is_spared():
            return None
        if fault is not None:
            self._hit(number, fault)
        return fault

    def _is_in_burst(self, service: str) -> bool:
        return any(
            name == service and begin <= self.elapsed < end
            for name, begin, end in self.faults.bursts
        )

    def _hit(self, number: int, fault: str) -> None:
        self.drawn.append((number, fault))
        self.invocation.request.faults += 1

    def _is_spared(self) -> bool:
        """Say whether the runs of a request were killed so often that no more are."""
        return getattr(self.invocation.request, "kills", 0) >= _MOST_KILLS

    def lag(self, most: float) -> float:
        """Return by how many seconds a read lags."""
        if not most or self.calm:
            return 0.0
        return most if self.faults.steady else self.random.uniform(0.0, most)


@dataclass(slots=True)
class Past:
    """A value with its former ones, for reads that lag."""

    values: list[tuple[float, Any]] = field(default_factory=list)

    def put(self, now: float, value: object) -> None:
        if self.values and self.values[-1][0] == now:
            self.values[-1] = (now, value)
        else:
            self.values.append((now, value))

    def read(self, at: float) -> Any:  # noqa: ANN401 - whatever was put
        """Return what it was at a time; None before it was set."""
        for since, value in reversed(self.values):
            if since <= at:
                return value
        return None


def called(
    service: str, operation: str = "", *, garble: Callable[[Any], Any] | None = None
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Let a method of a service, which has its `world`, be called as one of boto3's client.

    The operation is by default as the method's name says. `garble` makes garbage of an answer.
    """

    def decorated(effect: Callable[..., T]) -> Callable[..., T]:
        name = operation or "".join(map(str.capitalize, effect.__name__.split("_")))

        @wraps(effect)
        def call(self: Any, **request: Any) -> T:  # noqa: ANN401 - any service
            world: World = self.world
            answer: T = world.call(service, name, lambda: effect(self, **request), garble=garble)
            return answer

        return call

    return decorated


def throttling(operation: str) -> ClientError:
    """Return the error of a call that is one too many."""
    return client_error("ThrottlingException", operation, "Rate exceeded")
