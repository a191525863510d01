"""What can go wrong with the requests to a control plane."""

from dataclasses import dataclass

WRITES = frozenset({"create", "update", "patch", "delete"})
EVERYTHING: frozenset[str] = frozenset()


@dataclass(slots=True)
class Fault:
    """What goes wrong, and for whom.

    Attributes:
        code: HTTP status of the answer; ignored when the connection is dropped.
        verbs: Verbs it hits, such as `patch`; empty means every request, discovery included.
        kind: Kind it hits; empty means all.
        times: How many requests it hits before it is over; None means until cleared.
        delay_seconds: How long the request waits first, unless the faults are cleared.
        drop: Whether the connection is closed without an answer, as if nothing listened.
        passes: Whether the request is served after the delay, so that only time is lost.
    """

    code: int = 500
    reason: str = "InternalError"
    message: str = "Internal error occurred: injected fault"
    verbs: frozenset[str] = WRITES
    kind: str = ""
    times: int | None = 1
    delay_seconds: float = 0.0
    drop: bool = False
    passes: bool = False


def unreachable() -> Fault:
    """Return the fault of an API that does not answer at all."""
    return Fault(verbs=EVERYTHING, drop=True, times=None)
