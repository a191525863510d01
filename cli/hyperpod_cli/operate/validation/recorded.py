"""What was measured so far, in a file: a run that was interrupted goes on from there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from hyperpod_cli.operate.validation.findings import Finding
from hyperpod_cli.terminal.atomic_file import replace_file

FOLDER = Path("build/validate-nodes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """What a group of nodes did together.

    Attributes:
        bus_bandwidth: In GB/s; None if nothing was measured.
        provider: What carried the data, such as efa; several are joined by +.
        on_tcp: Those of the nodes that used TCP.
        error: Why it ended early, or what was wrong; empty if it was right.
    """

    nodes: tuple[str, ...]
    bus_bandwidth: float | None
    provider: str
    on_tcp: tuple[str, ...] = ()
    error: str = ""


class Recorded(BaseModel):
    """The state of a run.

    Attributes:
        about: What the results hold for; a run about something else begins anew.
        findings: What the checks found that are done, by the name of the check and its subject.
        submitted: Objects that may still be in the cluster.
    """

    file: Path = Field(exclude=True)
    about: Mapping[str, Any]
    findings: dict[str, list[Finding]] = {}
    measured: list[Measurement] = []
    submitted: list[Mapping[str, Any]] = []
    rounds: int = 0

    def keep(self, key: str, findings: Iterable[Finding]) -> None:
        """Keep what a check found."""
        self.findings[key] = [*findings]
        self.save()

    def save(self) -> None:
        """Write the file."""
        replace_file(self.file, self.model_dump_json(indent=1))

    def done(self) -> None:
        """Forget a run that is complete."""
        self.file.unlink(missing_ok=True)


def recorded(file: Path, *, about: Mapping[str, Any], fresh: bool) -> Recorded:
    """Return the state of the last run about the same; what it left in the cluster in any case."""
    new = Recorded(file=file, about=about)
    try:
        content = json.loads(file.read_text("utf-8"))
        kept = {"file": file, "about": about, "submitted": content["submitted"]}
        new = Recorded.model_validate(kept)
        same = not fresh and content["about"] == about
        return Recorded.model_validate({**content, "file": file}) if same else new
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        # There is none, or one that another version wrote.
        return new
