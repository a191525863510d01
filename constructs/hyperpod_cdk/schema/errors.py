"""What is wrong with a value, and the errors that say so."""

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

Path = tuple[str | int, ...]
"""Keys and list positions from the top of a configuration to a value."""

_MOST_CHARACTERS = 80


class Severity(StrEnum):
    """What follows from a finding."""

    ERROR = "error"
    """AWS refuses the value, or nodes never work with it: nothing is synthesized."""
    WARNING = "warning"
    """It deploys, and may not do what was meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with a value, or that its author should know.

    Attributes:
        path: Where the value is.
        value: The value.
        message: What is allowed and why; reads on from the value: "must be 0 to 6758".
        severity: What follows from it. Default: error.
        rule: Name of the check that found it; empty for a section's own rules.
    """

    path: Path = ()
    value: object
    message: str
    severity: Severity = Severity.ERROR
    rule: str = ""

    def under(self, *parents: str | int) -> "Finding":
        """Return the same finding with the path as seen from further up."""
        return replace(self, path=(*parents, *self.path))

    def __str__(self) -> str:
        """Return the finding as one line."""
        value = "" if self.message.startswith("is missing") else f"{shown(self.value)} "
        place = key_path(self.path)
        return f"{place}: {value}{self.message}" if place else f"{value}{self.message}"


def error(path: Path, value: object, message: str) -> Finding:
    """Return a finding that refuses the configuration."""
    return Finding(path=path, value=value, message=message)


def warning(path: Path, value: object, message: str) -> Finding:
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
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
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

    Args:
        findings: Errors and warnings, with paths from the top of the configuration.
        place: What has the configuration; begins each line.

    Raises:
        ConfigError: There is at least one error.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise ConfigError(f"{place}: {finding}" for finding in errors)


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
