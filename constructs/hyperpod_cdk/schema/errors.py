"""What is wrong with a value, and the errors that say so."""

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import Self

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a configuration to a value."""

_MOST_CHARACTERS = 80
_STEP = re.compile(r"([^.\[\]]+)(?![^\[]*\])|\[(\d+)\]")
_NAME = re.compile(r"[\w.-]{1,63}", re.ASCII)


class NamedIndex(int):
    """A position in a list, with the name of the entry there."""

    name: str

    def __new__(cls, index: int, *, name: str) -> Self:
        """Return the position."""
        named = super().__new__(cls, index)
        named.name = name
        return named


class Written(str):
    """A value as a file has it: 1.30 and no, where YAML reads 1.3 and false."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text without quotes."""
        return str(self)


class Severity(StrEnum):
    """What follows from a finding."""

    ERROR = "error"
    """AWS refuses the value, or nodes never work with it: nothing is synthesized."""
    WARNING = "warning"
    """It deploys, and may not do what was meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with a value, or that its author should know.

    The message reads on from the value: "must be 0 to 6758". The rule is the name of the check that
    found it; empty for a section's own rules. The value may be a default that something given
    contradicts.
    """

    path: KeyPath = ()
    value: object
    message: str
    severity: Severity = Severity.ERROR
    rule: str = ""
    is_default: bool = False

    def under(self, *parents: str | int) -> "Finding":
        """Return the same finding with the path as seen from further up."""
        return replace(self, path=(*parents, *self.path))

    def within(self, root: object) -> "Finding":
        """Return the same finding with the names of list entries next to their positions.

        The path starts at the root: a section, or the document that becomes one.
        """
        return replace(self, path=_named(self.path, root=root))

    def __str__(self) -> str:
        """Return the finding as one line."""
        given = " (the default)" if self.is_default else ""
        value = "" if self.message.startswith("is missing") else f"{shown(self.value)}{given} "
        place = key_path(self.path)
        return f"{place}: {value}{self.message}" if place else f"{value}{self.message}"


Findings = Iterator[Finding]
"""What a rule finds."""


def error(path: KeyPath, value: object, message: str) -> Finding:
    """Return a finding that refuses the configuration."""
    return Finding(path=path, value=value, message=message)


def warning(path: KeyPath, value: object, message: str) -> Finding:
    """Return a finding that is shown at synth."""
    return Finding(path=path, value=value, message=message, severity=Severity.WARNING)


class RefusedError(ValueError):
    """Raised by a validator that found something; each path starts at the validated value."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(map(str, self.findings)))


class ConfigError(ValueError):
    """A configuration, or a section of one, that cannot be used.

    Attributes:
        lines: One line for each finding: file or section, key path, value, what is allowed and why.
        rows: The same in parts, as `YamlFile.row` has them; none for what is no finding of a file.
    """

    def __init__(self, lines: Iterable[str], *, rows: Iterable[Mapping[str, object]] = ()) -> None:
        self.lines = tuple(lines)
        self.rows = tuple(rows)
        super().__init__("\n".join(self.lines))


def refuse(findings: Iterable[Finding]) -> None:
    """Raise the findings, if there are any.

    Raises:
        RefusedError: There is at least one.
    """
    found = tuple(findings)
    if found:
        raise RefusedError(found)


def refuse_errors(findings: Iterable[Finding], *, place: str) -> None:
    """Raise the errors among findings; warnings pass.

    Raises:
        ConfigError: There is at least one error; each line begins with the place.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise ConfigError(f"{place}: {finding}" for finding in errors)


def key_path(path: KeyPath) -> str:
    """Write a path as a reader of the file finds it: `cluster.instance_groups[0] (gpu).name`."""
    text = ""
    for step in path:
        if isinstance(step, NamedIndex):
            text += f"[{step}] ({step.name})"
        elif isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{shown(step)}]"
    return text


def path_of(text: str) -> KeyPath:
    """Read what `key_path` has written of plain keys and positions."""
    return tuple(int(index) if index else key for key, index in _STEP.findall(text))


def _named(path: KeyPath, *, root: object) -> KeyPath:
    steps: list[str | int] = []
    for step in path:
        root = _entry(root, step)
        name = _entry(root, "name") if isinstance(step, int) else None
        is_name = isinstance(name, str) and _NAME.fullmatch(name)
        steps.append(NamedIndex(int(step), name=str(name)) if is_name else step)
    return tuple(steps)


def _entry(parent: object, step: str | int) -> object:
    if isinstance(parent, Mapping):
        return parent.get(step)
    if isinstance(step, str):
        return getattr(parent, step, None)
    return parent[step] if isinstance(parent, list | tuple) and step < len(parent) else None


def one_line(error: Exception) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split())


def shown(value: object) -> str:
    """Write a value in one short line, in YAML's words."""
    return _short.repr(value)


class _Short(reprlib.Repr):
    """Shows values as YAML has them, and a section in a list by its name."""

    def repr_NoneType(self, _value: None, _level: int) -> str:
        """Return what stands for nothing."""
        return "null"

    def repr_bool(self, value: bool, _level: int) -> str:
        """Return a switch."""
        return "true" if value else "false"

    def repr_tuple(self, values: tuple[object, ...], level: int) -> str:
        """Return a list, as every tuple of a section is in YAML."""
        return self.repr_list([*values], level)

    def repr_instance(self, entry: object, level: int) -> str:
        """Return the name of a section that has one, or else what was given of it."""
        if isinstance(entry, Enum):
            return self.repr1(entry.value, level)
        name = getattr(entry, "name", None)
        if isinstance(name, str) and level < self.maxlevel:
            return repr(name)
        if hasattr(entry, "model_dump"):
            return self.repr1(entry.model_dump(exclude_unset=True), level)
        return super().repr_instance(entry, level)


_short = _Short()
_short.maxstring = _short.maxother = _short.maxlong = _MOST_CHARACTERS
_short.maxlevel = 2


NONE = "none"
"""What a parameter holds for a key that was left out."""


def kept_in(parameter: str) -> str:
    """Return where the former value is; reads on from "restore the former value"."""
    return f", which the stack's parameter {parameter} has,"
