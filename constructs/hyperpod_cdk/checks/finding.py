"""What a check finds in a deployment."""

from dataclasses import dataclass
from enum import StrEnum

Path = tuple[str | int, ...]
"""Keys and list positions from the top of the configuration to a value."""


class Severity(StrEnum):
    """What follows from a finding."""

    ERROR = "error"
    """AWS refuses it, or nodes never work: nothing is synthesized."""
    WARNING = "warning"
    """It deploys, and may not do what was meant; or nobody can know before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that a rule finds.

    Attributes:
        path: Where.
        value: The value there.
        message: What is allowed and why; reads on from the value: "must be 1 for ml.g7.2xlarge".
        severity: What follows from it.
        rule: Name of the rule; `findings` fills it in.
    """

    path: Path
    value: object
    message: str
    severity: Severity
    rule: str = ""


def error(path: Path, value: object, message: str) -> Finding:
    """Return a finding that refuses the configuration."""
    return Finding(path=path, value=value, message=message, severity=Severity.ERROR)


def warning(path: Path, value: object, message: str) -> Finding:
    """Return a finding that is shown at synth."""
    return Finding(path=path, value=value, message=message, severity=Severity.WARNING)
