"""The report of a rehearsal as a page."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cli.inspect.cost import cost_here
from hyperpod_cli.inspect.report.page import Attempt, Content
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import summary
from hyperpod_cli.stack_progress.progress import duration
from rehearsal.report import INTERRUPTED, Report


def report_page(
    report: Report,
    *,
    config: Config,
    region: str,
    assembly: Path,
    attempts: Sequence[Attempt],
) -> Content:
    """Return what the page tells of a rehearsal.

    Args:
        report: What happened.
        config: What was rehearsed.
        region: Where.
        assembly: Directory of its templates.
        attempts: The deployments.
    """
    told = "\n".join("\n".join(attempt.messages) for attempt in attempts)
    error = report.error or ""
    checks = [
        Check(title=each.check, ok=each.ok, found=each.found, advice=each.advice)
        for each in report.verify
    ]
    return Content(
        title=f"Rehearsal of {report.config}",
        verdict=_verdict(report, checks),
        ok=report.ok,
        written=datetime.now(UTC),
        facts={
            "Scenario": report.scenario,
            "Region": f"{region}, played by a local AWS",
            "Took": duration(report.seconds),
        },
        assembly=assembly,
        cost=cost_here(config),
        attempts=attempts,
        # What a deployment has told is there already.
        errors=[] if error in told else error.splitlines(),
        outputs=report.outputs,
        checks=checks,
    )


def _verdict(report: Report, checks: Sequence[Check]) -> str:
    if report.error == INTERRUPTED:
        return "The rehearsal was interrupted."
    said = "The rehearsal succeeded." if report.ok else "The rehearsal failed."
    return f"{said} {summary(checks)}"
