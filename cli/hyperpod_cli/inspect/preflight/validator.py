"""What a validator is, and what it may look at: the account, and what is deployed there already."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any, Protocol

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity
from hyperpod_cli.aws.session import AwsClient, Environment
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.aws.stacks import resources_of as stack_resources
from hyperpod_cli.inspect.registered import Registered
from hyperpod_shared.aws_errors import is_unknown_stack


@dataclass(frozen=True, kw_only=True, slots=True)
class Target(Environment):
    """Where a configuration is to be deployed.

    Attributes:
        client: Returns the client of an AWS service in that region, by boto3's name of it.
    """

    client: Callable[[str], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What a validator found.

    Attributes:
        finding: The key, its value, what is wrong, and what to do.
        command: The AWS CLI command that shows it.
    """

    finding: Finding
    command: str


Validate = Callable[[Config, Target], Iterator[Problem]]
"""Yields what would fail; calls that only read. Raises botocore's errors."""


class Phase(IntEnum):
    """When a validator runs: first what everything else needs."""

    MACHINE = auto()
    REGION = auto()
    VERSIONS = auto()
    FORMER_DEPLOYMENTS = auto()
    PLACES = auto()
    CAPACITY = auto()
    QUOTAS = auto()
    NETWORK = auto()
    EXISTING_RESOURCES = auto()


def problem(
    path: KeyPath,
    value: object,
    message: str,
    *,
    command: str,
    severity: Severity = Severity.ERROR,
) -> Problem:
    """Return what is wrong with the value of a key.

    Args:
        path: The key.
        value: Its value.
        message: What is wrong, and what to do.
        command: The AWS CLI command that shows it.
        severity: What follows. Default: a deployment would fail.
    """
    finding = Finding(path=path, value=value, message=message, severity=severity)
    return Problem(finding=finding, command=command)


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Return what a policy has alone or in a list, in a list."""
    return list(value) if isinstance(value, list) else [value]


@dataclass(frozen=True, kw_only=True)
class Validator(Registered):
    """A validator.

    Attributes:
        source: Link to the documentation of what it finds, as Markdown.
    """

    source: str

    @property
    def name(self) -> str:
        """What `--skip` takes."""
        return self.function.__name__.replace("_", "-")

    def __call__(self, config: Config, target: Target) -> Iterator[Problem]:
        """Yield what would fail."""
        validate: Validate = self.function
        return validate(config, target)


def validator(
    *, phase: Phase, row: str, source: str, reads: Sequence[str] = ()
) -> Callable[[Validate], Validator]:
    """Register the validator of a file of `validators/`.

    Args:
        phase: When it runs.
        row: What is blocked, or a warning, as docs/preflight.md says it.
        source: Link to the documentation of what it finds, as Markdown.
        reads: The IAM actions of its calls. Default: it calls nothing.
    """
    return lambda function: Validator(
        function=function, phase=phase, row=row, source=source, reads=reads
    )


class Clients(Protocol):
    """What makes clients of AWS."""

    @property
    def client(self) -> Callable[[str], AwsClient]:
        """Returns the client of a service, by boto3's name of it."""


def is_deployed(stack: str, target: Target) -> bool:
    """Return whether there is a stack."""
    return _resources(stack, target) is not None


def resources_of(
    stack: str, target: Clients, *, resource_type: str | None = None
) -> frozenset[str]:
    """Return the physical IDs of the resources that a stack has; none if there is no stack.

    Args:
        stack: Name of the stack.
        target: Makes the client of CloudFormation.
        resource_type: Only those of this type. Default: all.
    """
    found = _resources(stack, target) or {}
    return frozenset(
        name for name, type_ in found.items() if resource_type is None or type_ == resource_type
    )


def outputs(stack: str, target: Target) -> dict[str, str]:
    """Return the outputs of a stack by their keys; none if there is no stack."""
    found = described_stack(target.client("cloudformation"), stack) or {}
    return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}


def _resources(stack: str, target: Clients) -> dict[str, str] | None:
    try:
        there = stack_resources(target.client("cloudformation"), stack)
        return {each.physical_id: each.type for each in there if each.physical_id}
    except ClientError as error:
        if is_unknown_stack(error):
            return None
        raise
