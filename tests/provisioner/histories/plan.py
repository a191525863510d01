"""What is going to happen in a history, and what CloudFormation asks for then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tests.provisioner.histories.world import Faults


class Template:
    """What is deployed: a dataclass, whose text leaves out what is as usual."""

    def __str__(self) -> str:
        """Return the fields, each with its name."""
        told = ((one.name, getattr(self, one.name), one.default) for one in fields(self))  # type: ignore[arg-type]
        return ", ".join(
            f"{name} {'; '.join(map(str, value)) if isinstance(value, tuple) else value}"
            for name, value, usual in told
            if value != usual
        )


@dataclass(kw_only=True)
class Request:
    """One request to the custom resource.

    Attributes:
        former: The template before; None unless it is an Update.
        sent_at: When it was sent.
        given_up_at: When CloudFormation gave it up; None if it did not.
        answered_at: When it was answered; None if it was not.
        over_at: When nothing was asked for by it any more: it was given up, it failed, or the
            stack turned to something else.
        snapshot: The state of things when it was sent, for the invariants.
        undone: The request that it takes back, if the stack rolls back.
        kills: How often its runs were killed.
        faults: How many of its calls went wrong.
        siblings: All requests of the stack.
        done: Told of the answer, if CloudFormation waits for it.
    """

    number: int
    kind: str
    stack_id: str
    wanted: Any
    former: Any = None
    physical_id: str | None = None
    sent_at: float = 0.0
    given_up_at: float | None = None
    answered_at: float | None = None
    over_at: float = float("inf")
    error: Exception | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    snapshot: Any = None
    undone: "Request | None" = None
    kills: int = 0
    faults: int = 0
    siblings: "list[Request]" = field(default_factory=list, repr=False, compare=False)
    done: "Callable[[Request], None]" = field(
        default=lambda _request: None, repr=False, compare=False
    )

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def type(self) -> str:
        return {"create": "Create", "delete": "Delete"}.get(self.kind, "Update")

    def ended_at(self) -> float:
        """Return when CloudFormation stopped waiting for it."""
        ends = [at for at in (self.given_up_at, self.answered_at) if at is not None]
        return min(ends, default=float("inf"))


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One deployment or deletion.

    Attributes:
        fails_after: After how many seconds a sibling fails or the user cancels; None: neither.
        deletes: Whether the user deletes the stack then, if it is being created.
        pause: How many seconds pass before it.
        delivered_again: After how many seconds the request is delivered once more; None: it is not.
    """

    kind: str
    template: Any = None
    fails_after: float | None = None
    deletes: bool = False
    pause: float = 30.0
    delivered_again: float | None = None


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """A change by an operator: when after the beginning of an operation, and what."""

    operation: int
    after: float
    action: str
    group: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is going to happen.

    Attributes:
        seed: Decides what the plan leaves open, such as how long each call takes.
        about: The subject's name.
        conduct: How the subject's service conducts itself.
        foreign: Whether another stack has made something of the name.
        heals: Whether a deployment without faults comes last.
        lasts: Whether the waiters that nobody listens to are watched until they end.
    """

    seed: int
    about: str
    subject: Any
    profile: str
    operations: tuple[Operation, ...]
    by_hand: tuple[ByHand, ...] = ()
    conduct: Any
    faults: Faults
    foreign: bool = False
    heals: bool = True
    lasts: bool = False
