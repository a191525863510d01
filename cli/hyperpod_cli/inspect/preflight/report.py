"""What the validators found, as a table or as JSON."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from hyperpod_cdk import load_config
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cdk.schema.yaml_file import YamlFile, read_yaml
from hyperpod_cli.aws.account import caller_in
from hyperpod_cli.aws.session import aws_session
from hyperpod_cli.inspect.preflight.run import (
    VALIDATORS,
    Status,
    ValidatorResult,
    command_in,
    results,
)
from hyperpod_cli.inspect.preflight.validator import Problem, Target
from hyperpod_cli.inspect.preflight.validators.training_plans import with_plan
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.tables import console, print_json

_STYLES: Mapping[Status, str] = {
    Status.OK: "green",
    Status.WARNING: "yellow",
    Status.NOT_PERMITTED: "yellow",
    Status.NO_ANSWER: "red",
    Status.BLOCKED: "bold red",
}
TO_PERMIT = "`make deployer-policy` writes what deploying takes"
_TO_REPEAT = "check the network, or wait a minute; then run it again"


@dataclass(frozen=True, kw_only=True, slots=True)
class PreflightReport:
    """The results of all validators.

    Attributes:
        results: One for each, in their order.
        file: The configuration.
        target: Where it is to be deployed.
    """

    results: Sequence[ValidatorResult]
    file: YamlFile
    target: Target

    def show(self, *, as_json: bool) -> None:
        """Print it.

        Args:
            as_json: Whether a program reads it.
        """
        if as_json:
            print_json([self._row(each) for each in self.results])
            return
        out = console()
        out.print(f"Account {self.target.account}, region {self.target.region}\n")
        width = max((len(each.name) for each in self.results), default=0)
        for result in self.results:
            name = Text(f"{result.name:<{width}}  ")
            out.print(name.append(str(result.status), style=_STYLES[result.status]))
            self._show_details(result, out)

    def _show_details(self, result: ValidatorResult, out: Console) -> None:
        for problem in result.problems:
            out.print(self._folded(self._line(problem), out), soft_wrap=True)
            # As one line, which can be copied.
            out.print(Text(f"    {command_in(problem, self.target)}", style="dim"), soft_wrap=True)
        if result.missing_permission is not None:
            text = f"you may not use {result.missing_permission}; {TO_PERMIT}"
            out.print(self._folded(text, out), soft_wrap=True)
        if result.failure is not None:
            text = f"{result.failure}; {_TO_REPEAT}"
            out.print(self._folded(text, out), soft_wrap=True)

    @staticmethod
    def _folded(text: str, out: Console) -> str:
        """Return text in lines of the console's width; URLs and ARNs stay whole."""
        return textwrap.fill(
            text,
            width=out.width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _line(self, problem: Problem) -> str:
        finding = problem.finding
        return self.file.line(finding) if finding.path else str(finding)

    def _row(self, result: ValidatorResult) -> Mapping[str, Any]:
        return {
            "name": result.name,
            "status": str(result.status),
            "problems": [self._described(problem) for problem in result.problems],
            "missing_permission": result.missing_permission,
            "failure": result.failure,
        }

    def _described(self, problem: Problem) -> Mapping[str, Any]:
        is_error = problem.finding.severity is Severity.ERROR
        return {
            "status": str(Status.BLOCKED if is_error else Status.WARNING),
            "message": self._line(problem),
            "command": command_in(problem, self.target),
        }


def preflight_report(
    path: Path, *, region: str | None, skip: Sequence[str], plan: str | None
) -> PreflightReport:
    """Run the validators.

    Args:
        path: File of the configuration.
        region: What the user gave. Default: the configuration's or the environment's.
        skip: Names of validators to leave out.
        plan: Name or ARN of a training plan to look at as if its groups named it.

    Raises:
        AccountError: There are no credentials that AWS accepts.
        ConfigError: The configuration cannot be used.
        OpsError: There is no region, no validator of a name, or no group for the plan.
    """
    unknown = [name for name in skip if name not in VALIDATORS]
    if unknown:
        known = ", ".join(VALIDATORS)
        raise OpsError(f"--skip: {unknown[0]!r} is not a validator; the validators are {known}")
    session = aws_session(region=region, config=load_config(path))
    # Again, because the region may be known only now: zones and ARNs of another one are refused.
    config = load_config(path, region=session.region)
    environment = caller_in(session.region, session=session.session).environment
    target = Target(**asdict(environment), client=session.client)
    if plan is not None:
        config = with_plan(config, plan, target=target)
    chosen = {name: each for name, each in VALIDATORS.items() if name not in skip}
    found = results(config, target, validators=chosen)
    return PreflightReport(results=tuple(found), file=read_yaml(path), target=target)
