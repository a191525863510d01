"""Runs the validators, sorts what they raise, and shows that as a table or as JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.schema.errors import Finding, Severity, key_path, one_line
from hyperpod_cdk.schema.yaml_file import YamlFile, read_yaml
from hyperpod_cli.aws.account import caller_in
from hyperpod_cli.aws.session import aws_session
from hyperpod_cli.inspect.preflight import validators as validators_of_preflight
from hyperpod_cli.inspect.preflight.validator import Problem, Target, Validate, Validator
from hyperpod_cli.inspect.preflight.validators.training_plans import with_plan
from hyperpod_cli.inspect.registered import concerning, registered
from hyperpod_cli.terminal.console import Indented, console, print_json, styled
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_denied

# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_ACTION = re.compile(r"not authorized to perform: (?P<action>[\w-]+:\w+)")
# S3 answers HEAD without a message, and of a bucket that is not the caller's alike.
# https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
_UNNAMED = {"HeadBucket": "s3:ListBucket (or the bucket is another account's)"}


VALIDATORS: Mapping[str, Validator] = registered(validators_of_preflight, space="-")
"""By name, in the order in which they run; those of each orchestrator among them."""


class Status(StrEnum):
    """What follows for a deployment: what is known to fail is the last, and counts most."""

    OK = "ok"
    WARNING = "warning"
    NOT_PERMITTED = "not permitted"
    NO_ANSWER = "no answer"
    BLOCKED = "blocked"


_STYLES = dict(zip(Status, ("green", "yellow", "yellow", "red", "bold red"), strict=True))
_EXIT_CODES = {Status.BLOCKED: 1, Status.NO_ANSWER: 2}
"""Of the command, if there is nothing worse; 0 for others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidatorResult:
    """What a validator found, or why it could not look.

    The permission is the IAM action, or the operation, that the caller may not use; the failure
    says in one line why AWS did not answer.
    """

    name: str
    problems: tuple[Problem, ...] = ()
    missing_permission: str | None = None
    failure: str | None = None

    @property
    def status(self) -> Status:
        """The worst of it."""
        severities = {finding.severity for finding, _ in self.problems}
        if Severity.ERROR in severities:
            return Status.BLOCKED
        if self.failure is not None:
            return Status.NO_ANSWER
        if self.missing_permission is not None:
            return Status.NOT_PERMITTED
        return Status.WARNING if severities else Status.OK


def exit_code(outcomes: Iterable[ValidatorResult]) -> int:
    """Return the exit code of a command that shows results."""
    order = list(Status)
    worst = max((result.status for result in outcomes), key=order.index, default=Status.OK)
    return _EXIT_CODES.get(worst, 0)


def results(
    config: Config, target: Target, *, validators: Mapping[str, Validate]
) -> Iterator[ValidatorResult]:
    """Yield the result of each validator; none keeps another one from running."""
    for name, validate in validators.items():
        problems: list[Problem] = []
        denied = failure = None
        try:
            # One by one: what was found before an error is reported, too.
            problems.extend(validate(config, target))
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and is_denied(error):
                denied = _permission(error)
            else:
                failure = one_line(error)
        yield ValidatorResult(
            name=name, problems=tuple(problems), missing_permission=denied, failure=failure
        )


def command_in(command: str, target: Target) -> str:
    """Return the command that shows a problem; one of the AWS CLI with the deployment's region."""
    is_complete = "--region" in command or not command.startswith("aws ")
    return command if is_complete else f"{command} --region {target.region}"


def _permission(denied: ClientError) -> str:
    """Return the action that AWS's message names; of services that name none, the operation."""
    action = _ACTION.search(str(denied.response["Error"].get("Message", "")))
    operation = denied.operation_name
    return _UNNAMED.get(operation, operation) if action is None else action["action"]


_OF_SEVERITY = {Severity.ERROR: Status.BLOCKED, Severity.WARNING: Status.WARNING}
TO_PERMIT = "`hyperpod-cdk deployer-policy` writes what deploying takes"
_TO_REPEAT = "check the network, or wait a minute; then run it again"


@dataclass(frozen=True, kw_only=True, slots=True)
class PreflightReport:
    """The results of all validators."""

    results: Sequence[ValidatorResult]
    file: YamlFile
    target: Target

    def show(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            print_json([self._row(result) for result in self.results])
            return
        out = console()
        out.print(f"Account {self.target.account}, region {self.target.region}\n")
        width = max((len(result.name) for result in self.results), default=0)
        for result in self.results:
            name = styled(f"{result.name:<{width}}  ")
            out.print(name.append(str(result.status), style=_STYLES[result.status]))
            for text, command in self._details(result):
                # URLs and ARNs stay whole.
                out.print(Indented(text=text), soft_wrap=True)
                if command is not None:
                    # As one line, which can be copied.
                    out.print(styled(f"    {command}", style="dim"), soft_wrap=True)

    def _details(self, result: ValidatorResult) -> Iterator[tuple[str, str | None]]:
        for finding, command in result.problems:
            yield self._line(finding), command_in(command, self.target)
        if result.missing_permission is not None:
            yield f"you may not use {result.missing_permission}; {TO_PERMIT}", None
        if result.failure is not None:
            yield f"{result.failure}; {_TO_REPEAT}", None

    def _line(self, finding: Finding) -> str:
        return self.file.line(finding) if finding.path else str(finding)

    def _row(self, result: ValidatorResult) -> Mapping[str, Any]:
        return {
            "name": result.name,
            "status": str(result.status),
            "problems": [
                {
                    "status": str(_OF_SEVERITY[finding.severity]),
                    "message": self._line(finding),
                    "key": key_path(finding.path) or None,
                    "command": command_in(command, self.target),
                }
                for finding, command in result.problems
            ],
            "missing_permission": result.missing_permission,
            "failure": result.failure,
        }


def preflight_report(
    path: Path, *, region: str | None, skip: Sequence[str], plan: str | None
) -> PreflightReport:
    """Run the validators but for those to skip.

    A training plan, by its name or ARN, is looked at as if the groups of its type named it.
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
    concerned = concerning(VALIDATORS, config)
    selected = {name: validate for name, validate in concerned.items() if name not in skip}
    outcomes = results(config, target, validators=selected)
    return PreflightReport(results=tuple(outcomes), file=read_yaml(path), target=target)
