"""Lets injected faults hit requests."""

import asyncio
import threading
import time
from dataclasses import dataclass, field

from aiohttp import web

from emulator.kubernetes.control_plane import Fault
from emulator.kubernetes.objects.errors import ApiError

# Other threads clear the faults, and no event loop of theirs can wake a request.
_PAUSE_SECONDS = 0.05


@dataclass(slots=True)
class Faults:
    """The faults in force."""

    _faults: list[Fault] = field(default_factory=list)
    _clearings: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """End all faults, and the waiting of the requests that they have hit."""
        with self._lock:
            self._faults.clear()
            self._clearings += 1

    async def hit(
        self, request: web.Request, *, verb: str, kind: str, namespace: str, name: str
    ) -> None:
        """Let the fault that is in force for a request hit it.

        Raises:
            ApiError: The fault answers with an error.
            ConnectionResetError: The fault drops the connection.
        """
        clearings = self._clearings
        fault = self._take(verb=verb, kind=kind, namespace=namespace, name=name)
        if fault is None:
            return
        end = time.monotonic() + fault.delay_seconds
        while self._clearings == clearings and (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _PAUSE_SECONDS))
        if fault.drop:
            if request.transport is not None:
                request.transport.abort()
            message = "the connection was dropped by an injected fault"
            raise ConnectionResetError(message)
        if not fault.passes:
            raise ApiError(fault.code, fault.reason, fault.message)

    def _take(self, *, verb: str, kind: str, namespace: str, name: str) -> Fault | None:
        """Return the fault in force for a request, and count it."""
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
