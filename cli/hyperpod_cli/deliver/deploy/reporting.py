"""The report that a deployment leaves behind."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cli.inspect.cost import cost_here
from hyperpod_cli.inspect.report.content import Attempt, Content
from hyperpod_cli.inspect.report.page import write
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.display import summary
from hyperpod_cli.terminal.errors import INTERRUPTED

REPORTS = Path("build/deploy")


def write_report(
    attempt: Attempt,
    *,
    config: Config,
    region: str,
    code: int,
    outputs: Mapping[str, Mapping[str, str]],
    checks: Sequence[Check],
    following: Sequence[str] = (),
) -> str:
    """Write the report of a deployment; return the line that says where it is, or why not.

    Args:
        attempt: The deployment.
        config: What was deployed.
        region: Where.
        code: Exit code of the CDK CLI; 130 after Ctrl-C.
        outputs: Outputs of each stack; empty for a deployment that failed.
        checks: What was found of it afterwards.
        following: Lines of the terminal that say what to run next.
    """
    path = REPORTS / config.name / "report.html"
    content = Content(
        title=f"Deployment of {config.name}",
        verdict=_verdict(code, checks),
        ok=code == 0,
        written=datetime.now(UTC),
        facts={"Command": attempt.command, "Region": region},
        assembly=attempt.assembly,
        cost=cost_here(config),
        attempts=[attempt],
        outputs=outputs,
        checks=checks,
        following=following,
    )
    try:
        write(content, path)
    except OSError as error:
        return f"There is no report: {error}"
    return f"Report: {path}"


def _verdict(code: int, checks: Sequence[Check]) -> str:
    if code == INTERRUPTED:
        return "The deployment was interrupted."
    return "The deployment failed." if code else f"The deployment succeeded. {summary(checks)}"
