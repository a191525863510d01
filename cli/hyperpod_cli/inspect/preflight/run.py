"""Runs the validators, and sorts what they raise."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Severity, one_line
from hyperpod_cli.inspect.preflight import validators as validators_of_preflight
from hyperpod_cli.inspect.preflight.validator import Problem, Target, Validate, Validator
from hyperpod_cli.inspect.registered import registered
from hyperpod_shared.aws_errors import is_denied

# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_ACTION = re.compile(r"not authorized to perform: (?P<action>[\w-]+:\w+)")
# S3 answers HEAD without a message, and of a bucket that is not the caller's alike.
# https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
_UNNAMED = {"HeadBucket": "s3:ListBucket (or the bucket is another account's)"}


VALIDATORS: Mapping[str, Validator] = registered(validators_of_preflight, Validator)
"""By name, in the order in which they run."""


class Status(StrEnum):
    """What follows for a deployment: what is known to fail is the last, and counts most.

    Attributes:
        exit_code: The command's exit code if there is nothing worse.
        meaning: What it means, in words.
    """

    exit_code: int
    meaning: str

    OK = "ok", 0, "nothing is wrong"
    WARNING = "warning", 0, "it deploys, and may not do what was meant"
    NOT_PERMITTED = (
        "not permitted",
        0,
        "you may not look; the permission is named. The deployment may still succeed",
    )
    NO_ANSWER = "no answer", 2, "AWS was not reached, or asked for fewer calls; run it again"
    BLOCKED = "blocked", 1, "a deployment would fail"

    def __new__(cls, value: str, exit_code: int, meaning: str) -> Self:
        """Return a member with its attributes."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.exit_code, member.meaning = exit_code, meaning
        return member


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidatorResult:
    """What a validator found, or why it could not look.

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


def exit_code(found: Iterable[ValidatorResult]) -> int:
    """Return the exit code of a command that shows results."""
    order = list(Status)
    worst = max((result.status for result in found), key=order.index, default=Status.OK)
    return worst.exit_code


def results(
    config: Config, target: Target, *, validators: Mapping[str, Validate] = VALIDATORS
) -> Iterator[ValidatorResult]:
    """Yield the result of each validator; none keeps another one from running.

    Args:
        config: What is to be deployed.
        target: Where.
        validators: By name. Default: all.
    """
    for name, validate in validators.items():
        found: list[Problem] = []
        denied = failure = None
        try:
            # One by one: what was found before an error is reported, too.
            found.extend(validate(config, target))
        except ClientError as error:
            if is_denied(error):
                denied = _permission(error)
            else:
                failure = one_line(error)
        except BotoCoreError as error:
            failure = one_line(error)
        yield ValidatorResult(
            name=name, problems=tuple(found), missing_permission=denied, failure=failure
        )


def command_in(problem: Problem, target: Target) -> str:
    """Return the command that shows a problem; one of the AWS CLI with the deployment's region."""
    if "--region" in problem.command or not problem.command.startswith("aws "):
        return problem.command
    return f"{problem.command} --region {target.region}"


def _permission(denied: ClientError) -> str:
    """Return the action that AWS's message names; of services that name none, the operation."""
    named = _ACTION.search(str(denied.response["Error"].get("Message", "")))
    operation = denied.operation_name
    return _UNNAMED.get(operation, operation) if named is None else named["action"]
