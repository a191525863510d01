"""The report of a rehearsal: what `build/rehearsal/report.json` holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class StackReport:
    """One stack after the deployment.

    Attributes:
        name: Stack name.
        status: CloudFormation's status.
        seconds: From its first to its last event of the deployment.
    """

    name: str
    status: str
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterReport:
    """The HyperPod cluster as the HyperPod API describes it."""

    name: str
    arn: str
    status: str
    instance_groups: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseReport:
    """The Helm release of the HyperPod dependencies as helm reports it."""

    name: str
    namespace: str
    status: str
    chart: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One verified fact.

    Attributes:
        check: What was verified: a command or a sentence.
        ok: Whether it holds.
        told: What a user was told, where that is what was checked.
    """

    check: str
    ok: bool
    told: str | None = None


@dataclass(kw_only=True, slots=True)
class Report:
    """What happened, filled in as the rehearsal goes on."""

    config: str
    scenario: str
    ok: bool = False
    seconds: float = 0.0
    stacks: list[StackReport] = field(default_factory=list)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    cluster: ClusterReport | None = None
    release: ReleaseReport | None = None
    verify: list[Check] = field(default_factory=list)
    error: str | None = None

    def write(self, path: Path) -> None:
        """Write the report as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = asdict(self)
        # The last of what was told is the report's error.
        content["verify"] = [{"check": each.check, "ok": each.ok} for each in self.verify]
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
