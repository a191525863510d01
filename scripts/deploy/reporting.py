"""The report that a deployment leaves behind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_ops.errors import INTERRUPTED
from scripts.cost import cost_here
from scripts.deployment_report.content import Attempt, Content
from scripts.deployment_report.page import write
from scripts.stack_operations.outputs import NOTHING_SHORT, SHORTAGE
from scripts.stack_operations.progress import progress_of

REPORTS = Path("build/deploy")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Check:
    check: str
    ok: bool


def write_report(
    attempt: Attempt,
    *,
    config: Config,
    region: str,
    code: int,
    outputs: Mapping[str, Mapping[str, str]],
) -> str:
    """Write the report of a deployment; return the line that says where it is, or why not.

    Args:
        attempt: The deployment.
        config: What was deployed.
        region: Where.
        code: Exit code of the CDK CLI; 130 after Ctrl-C.
        outputs: Outputs of each stack; empty for a deployment that failed.
    """
    path = REPORTS / config.name / "report.html"
    content = Content(
        title=f"Deployment of {config.name}",
        verdict=_verdict(code),
        ok=code == 0,
        written=datetime.now(UTC),
        facts={"Command": attempt.command, "Region": region},
        assembly=attempt.assembly,
        cost=cost_here(config),
        attempts=[attempt],
        outputs=outputs,
        checks=[*_checks(attempt, outputs)] if code == 0 else (),
    )
    try:
        write(content, path)
    except OSError as error:
        return f"There is no report: {error}"
    return f"Report: {path}"


def _verdict(code: int) -> str:
    if code == INTERRUPTED:
        return "The deployment was interrupted."
    return "The deployment failed." if code else "The deployment succeeded."


def _checks(attempt: Attempt, outputs: Mapping[str, Mapping[str, str]]) -> Iterator[_Check]:
    for stack, events in attempt.events.items():
        progress = progress_of(events)
        said = f"is {progress.status}" if progress.begun else "needed no change"
        yield _Check(check=f"Stack {stack} {said}", ok=not progress.has_failed)
    for values in outputs.values():
        if SHORTAGE in values:
            short = values[SHORTAGE]
            yield _Check(check=f"Missing nodes: {short}", ok=short == NOTHING_SHORT)
