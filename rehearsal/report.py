"""The report of a rehearsal: what `build/rehearsal/report.json` holds and what is printed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cli.aws.stacks import output_lines

INTERRUPTED = "Interrupted."
"""The error of a rehearsal that was ended before its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackReport:
    """One stack after the deployment.

    Attributes:
        name: Stack name.
        status: CloudFormation's status.
        seconds: Time from its first to its last event of the deployment.
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
        message: What a user was shown, where that was checked.
        found: What there is instead; empty if it holds.
        advice: What to do; empty if it holds.
    """

    check: str
    ok: bool
    message: str | None = None
    found: str = ""
    advice: str = ""


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
        # The last message is the report's error.
        content["verify"] = [{"check": each.check, "ok": each.ok} for each in self.verify]
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def summarize(report: Report, *, report_path: Path, kept: bool = False) -> str:
    """Return the end of the rehearsal's output.

    Args:
        report: What happened.
        report_path: Where it is written.
        kept: Whether the deployment stayed up: it was shown then, and may have changed since.
    """
    deployment = () if kept else deployment_lines(report)
    return "\n".join((*deployment, *_end(report, report_path=report_path)))


def deployment_lines(report: Report) -> Iterator[str]:
    """Yield what was deployed: stacks, outputs, cluster and release."""
    if report.stacks:
        yield "\nStacks"
    for stack in report.stacks:
        yield f"  {stack.name:24} {stack.status:24} {stack.seconds:6.1f} s"
    yield from output_lines(report.outputs)
    if report.cluster is not None:
        yield f"\nHyperPod cluster {report.cluster.name} is {report.cluster.status}"
        for group in report.cluster.instance_groups:
            counts = f"{group['current_count']} of {group['target_count']}"
            yield f"  {group['name']:24} {group['instance_type']:24} {counts} running"
    if report.release is not None:
        release = report.release
        name = f"{release.namespace}/{release.name}"
        yield f"\nHelm release {name}: {release.chart}, {release.status}"


def _end(report: Report, *, report_path: Path) -> Iterator[str]:
    failed = [check for check in report.verify if not check.ok]
    if failed:
        yield "\nFailed checks"
        yield from (f"  {each.check}{f': {each.found}' if each.found else ''}" for each in failed)
    if report.error:
        yield "\nThe error, as it had to come" if report.ok else "\nError"
        yield from (f"  {line}".rstrip() for line in report.error.splitlines())
    verdict = "succeeded" if report.ok else "FAILED"
    passed = f"{len(report.verify) - len(failed)} of {len(report.verify)} checks passed. "
    yield (
        f"\nRehearsal {verdict} in {report.seconds:.0f} s. {passed if report.verify else ''}"
        f"Report: {report_path.with_suffix('.html')}; logs beside it."
    )
