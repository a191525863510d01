"""The report of a rehearsal: what `build/rehearsal/report.json` holds and what is printed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cli.aws.stacks import output_lines
from hyperpod_cli.inspect.cost import cost_here
from hyperpod_cli.inspect.report.page import Attempt, Content
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import summary
from hyperpod_cli.stack_progress.progress import duration
from hyperpod_rehearsal.training import TrainingReport

INTERRUPTED = "Interrupted."
"""The error of a rehearsal that was ended before its end."""
_MOST_LINES = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class StackReport:
    """One stack after the deployment, with the seconds from its first to its last event."""

    name: str
    status: str
    seconds: float

    def __str__(self) -> str:
        return f"  {self.name:24} {self.status:24} {self.seconds:6.1f} s"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact(Check):
    """A check of a rehearsal, with what a user was shown, if that was checked."""

    message: str | None = None


@dataclass(kw_only=True, slots=True)
class Report:
    """What happened, filled in as the rehearsal goes on.

    It is refused if `hyperpod-cdk deploy` would change nothing, for the reason that is the error.
    """

    config: str
    scenario: str
    ok: bool = False
    refused: bool = False
    seconds: float = 0.0
    stacks: list[StackReport] = field(default_factory=list)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    cluster: Mapping[str, Any] | None = None
    release: Mapping[str, str] | None = None
    verify: list[Fact] = field(default_factory=list)
    training: TrainingReport | None = None
    error: str | None = None

    def write(self, path: Path) -> None:
        """Write the report as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = asdict(self)
        # The last message is the report's error.
        content["verify"] = [{"check": check.title, "ok": check.ok} for check in self.verify]
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def summarize(report: Report, *, work_directory: Path) -> str:
    """Return the end of the rehearsal's output: what is wrong first, the verdict last."""
    return "\n".join(_end(report, work_directory=work_directory))


def deployment_lines(report: Report) -> Iterator[str]:
    """Yield what was deployed: stacks, outputs, cluster and release."""
    if report.stacks:
        yield "\nStacks"
    yield from map(str, report.stacks)
    yield from output_lines(report.outputs)
    if report.cluster is not None:
        yield f"\nHyperPod cluster {report.cluster['name']} is {report.cluster['status']}"
        for group in report.cluster["instance_groups"]:
            counts = f"{group['current_count']} of {group['target_count']}"
            role = f", {group['slurm']}" if "slurm" in group else ""
            yield f"  {group['name']:24} {group['instance_type']:24} {counts} running{role}"
    if report.release is not None:
        yield "\nHelm release {namespace}/{name}: {chart}, {status}".format(**report.release)


def _end(report: Report, *, work_directory: Path) -> Iterator[str]:
    if report.error:
        yield "The error, as it had to come:" if report.ok else "Error:"
        yield from _shortened([f"  {line}".rstrip() for line in report.error.splitlines()])
    failed = [check for check in report.verify if not check.ok]
    checks = len(report.verify)
    if checks:
        yield f"{checks - len(failed)} of {checks} checks hold" + (", but not:" if failed else "")
    yield from _shortened(
        [f"  {check.title}{f': {check.found}' if check.found else ''}" for check in failed]
    )
    verdict = "succeeded" if report.ok else "FAILED"
    yield (
        f"Rehearsal {verdict} in {report.seconds:.0f} s. "
        f"Report: {work_directory / 'report.html'}; logs next to it."
    )


def _shortened(lines: Sequence[str]) -> Sequence[str]:
    """Return the first and the last of many lines: the cause, and the next step."""
    if len(lines) <= _MOST_LINES:
        return lines
    left_out = len(lines) - _MOST_LINES + 1
    first, last = lines[: _MOST_LINES // 2], lines[left_out + _MOST_LINES // 2 :]
    return [*first, f"  ... {left_out} more lines in the report", *last]


def report_page(
    report: Report,
    *,
    config: Config,
    region: str,
    attempts: Sequence[Attempt],
) -> Content:
    """Return what the page tells of a rehearsal and its deployments."""
    messages = "\n".join("\n".join(attempt.messages) for attempt in attempts)
    error = report.error or ""
    return Content(
        title=f"Rehearsal of {report.config}",
        verdict=_verdict(report),
        ok=report.ok,
        written=datetime.now(UTC),
        facts={
            "Scenario": report.scenario,
            "Region": f"{region}, played by a local AWS",
            "Took": duration(report.seconds),
            **({} if report.training is None else report.training.facts),
        },
        config=config,
        cost=cost_here(config),
        attempts=attempts,
        # What a deployment has told is there already.
        errors=[] if error in messages else error.splitlines(),
        outputs=report.outputs,
        checks=report.verify,
    )


def _verdict(report: Report) -> str:
    if report.error == INTERRUPTED:
        return "The rehearsal was interrupted."
    said = "The rehearsal succeeded." if report.ok else "The rehearsal failed."
    return f"{said} {summary(report.verify)}"
