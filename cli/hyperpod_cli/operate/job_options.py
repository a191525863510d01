"""What the commands are given that run jobs: `train` and `validate-nodes`.

Their options in `commands/operate/jobs.py` have the names of the fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Given:
    """The job that is to be submitted, or stopped.

    What is not given is the values': the name, else that of their file; the image, else the
    deployment's; the nodes, else all of the group; the group, else one of their instance type.
    """

    config: Path
    files: list[str] = field(default_factory=list)
    name: str | None = None
    namespace: str | None = None
    group: str | None = None
    nodes: int | None = None
    team: str | None = None
    priority: str | None = None
    image: str | None = None
    settings: list[str] = field(default_factory=list)
    region: str | None = None
    yes: bool = False
    follow: bool = True
    every: float = 5
    dry_run: bool = False
    stop: bool = False


CHECKS = ("node", "fabric", "storage", "rendezvous")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is checked, and how."""

    group: str | None
    check: list[str]
    namespace: str
    claim: str
    image: str | None
    include_busy: bool
    timeout_minutes: int
    fresh: bool
    json: Path | None
    junit: Path | None
    every_seconds: float

    @property
    def checks(self) -> Sequence[str]:
        """Those that are named, or all."""
        return self.check or CHECKS
