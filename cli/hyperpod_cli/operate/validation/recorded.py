"""What was measured so far, in a file: a run that was interrupted goes on from there."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cli.operate.validation.findings import Finding, Result
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


@dataclass(kw_only=True)
class Recorded:
    """The state of a run.

    Attributes:
        about: What the results hold for; a run about something else begins anew.
        findings: What the checks found that are done, by the name of the check and its subject.
        submitted: Objects that may still be in the cluster.
    """

    file: Path
    about: Mapping[str, Any]
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    measured: list[Measurement] = field(default_factory=list)
    submitted: list[Mapping[str, Any]] = field(default_factory=list)
    rounds: int = 0

    def keep(self, key: str, findings: Iterable[Finding]) -> None:
        """Keep what a check found."""
        self.findings[key] = [*findings]
        self.save()

    def save(self) -> None:
        """Write the file."""
        content = {
            "about": self.about,
            "findings": {
                key: [asdict(each) for each in found] for key, found in self.findings.items()
            },
            "measured": [asdict(each) for each in self.measured],
            "submitted": self.submitted,
            "rounds": self.rounds,
        }
        replace_file(self.file, json.dumps(content, indent=1))

    def done(self) -> None:
        """Forget a run that is complete."""
        self.file.unlink(missing_ok=True)


def recorded(file: Path, *, about: Mapping[str, Any], fresh: bool) -> Recorded:
    """Return the state of the last run about the same; what it left in the cluster in any case."""
    try:
        content = json.loads(file.read_text("utf-8"))
        submitted: Sequence[Mapping[str, Any]] = content["submitted"]
        if fresh or content["about"] != about:
            return Recorded(file=file, about=about, submitted=[*submitted])
        return Recorded(
            file=file,
            about=about,
            findings={
                key: [Finding(**{**each, "result": Result(each["result"])}) for each in found]
                for key, found in content["findings"].items()
            },
            measured=[
                Measurement(
                    **{**each, "nodes": tuple(each["nodes"]), "on_tcp": tuple(each["on_tcp"])}
                )
                for each in content["measured"]
            ],
            submitted=[*submitted],
            rounds=content["rounds"],
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        # There is none, or one that another version wrote.
        return Recorded(file=file, about=about)
