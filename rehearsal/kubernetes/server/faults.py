"""Faults that a rehearsal injects into the API."""

import threading
from dataclasses import dataclass, field

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
EVERYTHING: frozenset[str] = frozenset()


@dataclass(slots=True)
class Fault:
    """What goes wrong, and for whom.

    Attributes:
        code: HTTP status of the answer; ignored when the connection is dropped.
        reason: Kubernetes reason of the answer.
        message: Message of the answer.
        verbs: Verbs it hits, such as `patch`; empty means every request, discovery included.
        kind: Kind it hits; empty means all.
        namespace: Namespace it hits; empty means all.
        name: Object it hits; empty means all.
        times: How many requests it hits before it is over; None means until cleared.
        delay_seconds: How long the request waits first.
        drop: Whether the connection is closed without an answer, as if nothing listened.
        passes: Whether the request is served after the delay, so that only time is lost.
    """

    code: int = 500
    reason: str = "InternalError"
    message: str = "Internal error occurred: injected fault"
    verbs: frozenset[str] = WRITES
    kind: str = ""
    namespace: str = ""
    name: str = ""
    times: int | None = 1
    delay_seconds: float = 0.0
    drop: bool = False
    passes: bool = False


def unreachable(*, times: int | None = None) -> Fault:
    """Return the fault of an API that does not answer at all."""
    return Fault(verbs=EVERYTHING, drop=True, times=times)


@dataclass(slots=True)
class Faults:
    """The faults in force."""

    _faults: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """End all faults."""
        with self._lock:
            self._faults.clear()

    def take(self, *, verb: str, kind: str, namespace: str, name: str) -> Fault | None:
        """Return the fault that hits a request, and count it."""
        with self._lock:
            for fault in self._faults:
                if (
                    (not fault.verbs or verb in fault.verbs)
                    and fault.kind in ("", kind)
                    and fault.namespace in ("", namespace)
                    and fault.name in ("", name)
                ):
                    if fault.times is not None:
                        fault.times -= 1
                        if fault.times <= 0:
                            self._faults.remove(fault)
                    return fault
        return None
