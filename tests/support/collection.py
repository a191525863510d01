"""What the modules of tests read when they are imported, each worker for itself."""

import os
import sys
from pathlib import Path

from tests.support.configs import REPOSITORY

_OWN = f"{REPOSITORY}{os.sep}"
_READS = ("open", "os.listdir", "os.scandir")
_INSTALLED = {".venv", "node_modules"}


class Reads:
    """Notes what the repository's own code reads of what a run writes.

    Workers import the same modules at about the same time, and each has to collect the same tests.

    Attributes:
        found: What was read, and from where.
    """

    def __init__(self) -> None:
        lines = (REPOSITORY / ".gitignore").read_text("utf-8").split()
        self._written = {line.rstrip("/") for line in lines} - _INSTALLED
        self._over = False
        self.found: list[str] = []

    def begin(self) -> None:
        """Listen to Python's audit events; a listener stays to the end of the process."""
        sys.addaudithook(self._heard)

    def end(self) -> None:
        """Note no more."""
        self._over = True

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._over or event not in _READS or not isinstance(arguments[0], str | os.PathLike):
            return
        path = Path(arguments[0]).absolute()
        if path.is_relative_to(_OWN) and not self._written.isdisjoint(path.parts):
            reader = _reader()
            if reader is not None:
                self.found.append(f"{reader} reads {path}")


def _reader() -> str | None:
    """Return the line of the repository that reads; None if Python or a package does."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        # `iter_modules` looks whether folders are packages, and yields modules alone.
        finds_modules = name.startswith("<frozen importlib") or Path(name).name == "pkgutil.py"
        if finds_modules or "site-packages" in name:
            return None
        if name.startswith(_OWN):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return None


READS = Reads()
