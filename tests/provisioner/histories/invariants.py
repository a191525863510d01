"""What must hold in every history, whatever happens, and how it is noted that it did not."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from random import Random
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from tests.provisioner.histories.cloudformation import HOUR, Stack
from tests.provisioner.histories.plan import ByHand, Operation, Plan, Request
from tests.provisioner.histories.world import World

SECRET = "hunter2"  # noqa: S105 - looked for, never used
"""What a history's values hold and nothing may show."""
SLACK_SECONDS = 3.0
"""What lies between the last read of an invocation and its call."""
_SECRETS = ("sesame", SECRET)
_LONGEST_MESSAGE = 1000
_WORDS = 40
"""So much of a message tells what kind it is of."""
_REFUSED = "denied the request"
"""What Kubernetes says of an object that a rule of the cluster forbids: no rollback can help it."""
LEAST_LASTING = HOUR - 400.0
_PASSING = frozenset({"ThrottlingException", "InternalFailure"})
_PASSING_WORDS = (
    "Rate exceeded",
    "Read timeout on",
    "Connect timeout on",
    "(InternalFailure)",
    "i/o timeout",
    " without its ",
)


class Rule(Enum):
    """What must hold in every history, whatever happens."""

    NOT_ASKED = "nothing is deleted, patched or shrunk that no living request asked for"
    NOT_TRUE = "success means that what is described is wanted, or the answer names the difference"
    NOT_UNDONE = "a rollback ends at the former state or says what is left; a deployment repairs it"
    NOT_ANSWERED = "every request is answered within the hour, in words of the provisioner"
    NOT_OWNED = "what another stack made is never changed"
    NOT_SECRET = "no ResponseURL and no secret is logged or told"  # noqa: S105 - a rule
    NOT_FINAL = "an error that passes by itself is never the final answer"


@dataclass(frozen=True, kw_only=True)
class Violation:
    """An invariant that did not hold.

    Attributes:
        kind: What was violated, without names and numbers: violations of a kind count as one.
    """

    invariant: Rule
    kind: str
    text: str
    at: float


class Subject(ABC):
    """What a history is about: a custom resource, its services, and what must hold of it.

    Attributes:
        services: What stands in for boto3's clients, by name.
        conduct: How they conduct themselves from now on.
        heals: Whether a deployment without faults is under way, which must succeed.
    """

    resource_type: str
    pauses: Sequence[float]
    """How many seconds may pass between two deployments."""

    def __init__(self, plan: Plan, world: World) -> None:
        self.world = world
        self.conduct = replace(plan.conduct)
        self.services: Mapping[str, Any] = {}
        self.violations: list[Violation] = []
        self.heals = False

    # What is going to happen.

    @staticmethod
    @abstractmethod
    def templates(random: Random) -> Iterator[Any]:
        """Draw what is deployed, one template after the other."""

    @staticmethod
    @abstractmethod
    def drawn_conduct(random: Random) -> Any:  # noqa: ANN401 - the subject's own
        """Draw how the services conduct themselves."""

    @staticmethod
    def changes_by_hand(
        random: Random,  # noqa: ARG004 - where an operator does something
        operations: Sequence[Operation],  # noqa: ARG004
    ) -> Iterator[ByHand]:
        """Draw what an operator does."""
        return iter(())

    def next_template(self, template: Any) -> Any:  # noqa: ANN401 - the subject's own
        """Return what is deployed last."""
        return replace(template, version=template.version + 1)

    # How it happens.

    def by_hand(self, change: ByHand) -> None:  # noqa: B027 - nothing where no operator does
        """Let an operator change something, where one does."""

    def make_foreign(self) -> None:  # noqa: B027 - nothing where none can
        """Let another stack have made something of the name, where one can."""

    @abstractmethod
    def calm_down(self) -> float:
        """Let nothing fail any more; return for how many seconds something is under way."""

    def connected(self) -> AbstractContextManager[None]:
        """Return a context in which the provisioner talks to what is no client of boto3."""
        return nullcontext()

    # What must hold.

    def violated(self, invariant: Rule, kind: str, text: str = "") -> None:
        self.violations.append(
            Violation(invariant=invariant, kind=kind, text=text or kind, at=self.world.now)
        )
        self.world.note("VIOLATION", "%s %s: %s", invariant.name, kind, text)

    def log_line(self, line: str) -> None:
        if any(secret in line for secret in _SECRETS):
            self.violated(Rule.NOT_SECRET, "a secret is logged", line)

    def is_over(self, request: Request, begun_at: float, *, what: str) -> bool:
        """Say whether a request changes something though it is over, and note it.

        What CloudFormation did less than a read's lag before the run began, and during the run,
        the run could not know.
        """
        length = self.world.now - begun_at
        dead_for = self.world.now - request.over_at
        # Another delivery of a request asks for the same as a rollback to it.
        living = (one for one in request.siblings if one.over_at == float("inf"))
        is_asked = any(one.wanted == request.wanted for one in living)
        over = not is_asked and dead_for > length + self.world.faults.stack_lag + SLACK_SECONDS
        if over:
            self.violated(
                Rule.NOT_ASKED,
                f"{what} by a {request.kind} that is over",
                f"{request.name} is over for {dead_for:.0f} s",
            )
        return over

    def sent(self, request: Request) -> None:  # noqa: B027 - where it is compared later
        """Remember what there is when a request is sent."""

    def answered(self, request: Request) -> None:
        """Look at the answer to a request that CloudFormation waits for."""
        if request.error is not None:
            self._failed(request, request.error)
            return
        if any(secret in str(request.data) for secret in _SECRETS):
            self.violated(Rule.NOT_SECRET, "a secret is told", str(request.data))
        if request.type == "Delete":
            self.deleted(request)
        elif request.kind == "rollback":
            self.rolled_back(request)
        else:
            self.succeeded(request)

    def succeeded(self, request: Request) -> None:
        self.compare(Rule.NOT_TRUE, request, request.kind)

    def rolled_back(self, request: Request) -> None:
        self.compare(Rule.NOT_UNDONE, request, request.kind)

    def compare(  # noqa: B027 - a subject may have nothing to compare
        self, invariant: Rule, request: Request, kind: str
    ) -> None:
        """Compare what there is with what a request wants."""

    def deleted(self, request: Request) -> None:  # noqa: B027 - where something is deleted
        """Look at the success of a deletion."""

    def healed(self, request: Request) -> None:
        """Look whether a deployment without faults has made all as its template says."""
        self.compare(Rule.NOT_UNDONE, request, "repaired")

    def lasted(self, request: Request) -> bool:
        """Say whether a request took most of its hour."""
        return self.world.now >= request.sent_at + LEAST_LASTING

    def is_hindered(self, request: Request) -> bool:  # noqa: ARG002 - a subject knows more
        """Say whether calls failed for so long that a rollback may say what is left."""
        return False

    def is_false(self, request: Request) -> str:  # noqa: ARG002 - a subject knows more
        """Return what is wrong with a failure, if anything is; empty otherwise."""
        return ""

    def _failed(self, request: Request, error: Exception) -> None:
        text = str(error)
        if any(secret in text for secret in _SECRETS):
            self.violated(Rule.NOT_SECRET, "a secret is told", text)
        if isinstance(error, TimeoutError):
            self.violated(Rule.NOT_ANSWERED, f"a {request.kind} is not answered within the hour")
        elif not isinstance(error, ProvisioningError):
            self.violated(Rule.NOT_ANSWERED, f"a raw {type(error).__name__}", text)
        elif len(text.encode()) >= _LONGEST_MESSAGE:
            self.violated(Rule.NOT_ANSWERED, "a message that is too long", text)
        elif _passes(error):
            if not self.lasted(request):
                self.violated(
                    Rule.NOT_FINAL, f"a {request.kind} fails for an error that passes", text
                )
        elif self.is_false(request):
            self.violated(Rule.NOT_ANSWERED, self.is_false(request), text)
        elif self.heals:
            self.violated(Rule.NOT_UNDONE, f"the next {request.kind} fails", text)
        elif request.kind == "rollback" and not (_REFUSED in text or self.is_hindered(request)):
            self.violated(Rule.NOT_UNDONE, f"a rollback fails: {text[:_WORDS]}", text)

    def end(self, stack: Stack) -> None:
        """Look at what is there in the end."""
        for request in stack.requests:
            if request.sent_at and request.ended_at() == float("inf"):
                self.violated(
                    Rule.NOT_ANSWERED, f"a {request.kind} is never answered", request.name
                )


def _passes(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, HTTPClientError):
            return True
        if isinstance(error, ClientError):
            return error.response["Error"]["Code"] in _PASSING
        if any(words in str(error) for words in _PASSING_WORDS):
            return True
        error = error.__cause__
    return False


class _Lines:
    """What stands in for the logger: lines are looked at, and neither formatted nor printed."""

    def __init__(self, listen: Callable[[str], None]) -> None:
        self._listen = listen

    def info(self, message: str, *, extra: Mapping[str, Any]) -> None:
        self._listen(f"{message} {extra}")

    warning = info


@contextmanager
def watched_log(listen: Callable[[str], None]) -> Iterator[None]:
    """Listen to the provisioner's log instead of printing it."""
    logger, log._logger = log._logger, _Lines(listen)  # type: ignore[assignment]
    try:
        yield
    finally:
        log._logger = logger
