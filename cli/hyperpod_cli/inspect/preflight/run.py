"""Runs the validators, and sorts what they raise."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Severity, one_line
from hyperpod_cli.inspect.preflight.validator import Place, Problem, Validator
from hyperpod_cli.inspect.preflight.validators import VALIDATORS
from hyperpod_shared.aws_errors import is_denied

# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_ACTION = re.compile(r"not authorized to perform: (?P<action>[\w-]+:\w+)")
# S3 answers HEAD without a message, and of a bucket that is not the caller's alike.
# https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
_UNNAMED = {"HeadBucket": "s3:ListBucket (or the bucket is another account's)"}


class Status(StrEnum):
    """What follows for a deployment."""

    OK = "ok"
    WARNING = "warning"
    """It deploys, and may not do what was meant."""
    NOT_PERMITTED = "not permitted"
    """It was not looked at, or not at all of it."""
    NO_ANSWER = "no answer"
    """AWS did not say: it was not reached, or asked for fewer calls."""
    BLOCKED = "blocked"
    """A deployment would fail."""


EXIT_CODES: Mapping[Status, int] = {
    Status.OK: 0,
    Status.WARNING: 0,
    Status.NOT_PERMITTED: 0,
    Status.NO_ANSWER: 2,
    Status.BLOCKED: 1,
}
"""By the worst that was found, in this order: what is known to fail counts most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a validator.

    Attributes:
        name: The validator's.
        problems: What it found.
        missing_permission: The IAM action, or the operation, that the caller may not use.
        failure: Why AWS did not answer, in one line.
    """

    name: str
    problems: tuple[Problem, ...] = ()
    missing_permission: str | None = None
    failure: str | None = None

    @property
    def status(self) -> Status:
        """The worst of it."""
        found = {problem.finding.severity for problem in self.problems}
        if Severity.ERROR in found:
            return Status.BLOCKED
        if self.failure is not None:
            return Status.NO_ANSWER
        if self.missing_permission is not None:
            return Status.NOT_PERMITTED
        return Status.WARNING if found else Status.OK


def exit_code(found: Iterable[Outcome]) -> int:
    """Return the exit code of a command that shows outcomes."""
    order = list(EXIT_CODES)
    worst = max((outcome.status for outcome in found), key=order.index, default=Status.OK)
    return EXIT_CODES[worst]


def outcomes(
    config: Config, place: Place, *, validators: Mapping[str, Validator] = VALIDATORS
) -> Iterator[Outcome]:
    """Yield what comes of each validator; none keeps another one from running.

    Args:
        config: What is to be deployed.
        place: Where.
        validators: By name. Default: all.
    """
    for name, validator in validators.items():
        found: list[Problem] = []
        denied = failure = None
        try:
            # One by one: what was found before an error is told, too.
            found.extend(validator(config, place))
        except ClientError as error:
            if is_denied(error):
                denied = _permission(error)
            else:
                failure = one_line(error)
        except BotoCoreError as error:
            failure = one_line(error)
        yield Outcome(name=name, problems=tuple(found), missing_permission=denied, failure=failure)


def command_in(problem: Problem, place: Place) -> str:
    """Return the command that shows a problem; one of the AWS CLI with the deployment's region."""
    if "--region" in problem.command or not problem.command.startswith("aws "):
        return problem.command
    return f"{problem.command} --region {place.region}"


def _permission(denied: ClientError) -> str:
    """Return the action that AWS's message names; of services that name none, the operation."""
    named = _ACTION.search(str(denied.response["Error"].get("Message", "")))
    operation = denied.operation_name
    return _UNNAMED.get(operation, operation) if named is None else named["action"]
