"""Faults in a configuration, and the two errors that carry them."""

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

Path = tuple[str | int, ...]

_MOST_CHARACTERS = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing wrong with a configuration.

    Attributes:
        path: Keys and list positions from the top to the value.
        value: The refused value.
        message: What is allowed and why; reads on from the value: "must be 0 to 6758".
    """

    path: Path = ()
    value: object
    message: str

    def under(self, *parents: str | int) -> "Fault":
        """Return the same fault seen from further up."""
        return replace(self, path=(*parents, *self.path))


class RuleError(ValueError):
    """Raised by a validator that found faults; each path starts at the validated value."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{key_path(f.path)} {f.message}".strip() for f in self.faults))


class ConfigError(Exception):
    """A configuration that cannot be used.

    Attributes:
        lines: One line for each fault: file, key path, value, what is allowed and why.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


def refuse(faults: Iterable[Fault]) -> None:
    """Raise the faults, if there are any.

    Raises:
        RuleError: There is at least one.
    """
    found = tuple(faults)
    if found:
        raise RuleError(found)


def key_path(path: Path) -> str:
    """Write a path the way a reader of the file finds it: `cluster.instance_groups[0].name`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{shown(step)}]"
    return text


def shown(value: object) -> str:
    """Write a value in one short line, in YAML's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _short.repr(value)


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _MOST_CHARACTERS
_short.maxlevel = 2
