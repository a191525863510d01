"""Runs of the function that are under way at once, of which one goes on at a time.

Each has a thread, for a stack of its own, but never runs beside another one: a thread goes on only
when it is told to, until it gives way. So a history is the same each time.
"""

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

_idle: list["Fiber"] = []


class Fiber:
    """A thread that is told when to go on; it is used again when its task has ended.

    Attributes:
        about: What the task is about, for whoever wants to know.
        ended: Whether the task has ended.
    """

    def __init__(self) -> None:
        self._go, self._back = Lock(), Lock()
        self._go.acquire()
        self._back.acquire()
        self._task: Callable[[], None] = lambda: None
        self._error: BaseException | None = None
        self.about: Any = None
        self.ended = True
        Thread(target=self._run, daemon=True).start()

    @classmethod
    def of(cls, task: Callable[[], None]) -> "Fiber":
        """Return one that is going to do a task."""
        fiber = _idle.pop() if _idle else cls()
        fiber._task, fiber.ended, fiber.about = task, False, None
        return fiber

    def go_on(self) -> None:
        """Let it go on until it gives way or ends; raise what its task raises."""
        self._go.release()
        self._back.acquire()
        if self.ended:
            error, self._error = self._error, None
            _idle.append(self)
            if error is not None:
                raise error

    def give_way(self) -> None:
        """Let the others go on; called by its own task."""
        self._back.release()
        self._go.acquire()

    def _run(self) -> None:
        while True:
            self._go.acquire()
            try:
                self._task()
            except BaseException as error:  # noqa: BLE001 - raised where it was told to go on
                self._error = error
            self.ended = True
            self._back.release()
