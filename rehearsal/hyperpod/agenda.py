"""What is due when: the order of things in simulated time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

Action = Callable[[float], None]


class Agenda:
    """Actions with the times at which they are due.

    Time passes only in `run_until`. An action receives the time at which it was due, so what it
    schedules in turn does not depend on how late it was run.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Action]] = []
        self._order = count()

    def at(self, time: float, action: Action) -> None:
        """Schedule an action; actions due at the same time run in the order of scheduling."""
        heapq.heappush(self._due, (time, next(self._order), action))

    def run_until(self, now: float) -> None:
        """Run everything that is due at `now`, in order."""
        while self._due and self._due[0][0] <= now:
            time, _, action = heapq.heappop(self._due)
            action(time)
