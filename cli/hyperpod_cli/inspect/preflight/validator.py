"""What a validator is, and what it may look at."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.inspect.registered import Registered


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
