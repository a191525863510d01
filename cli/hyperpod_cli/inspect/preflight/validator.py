"""What a validator is, and what it may look at: the account, and what is deployed there already."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.inspect.registered import Registered, register


@dataclass(frozen=True, kw_only=True, slots=True)
class Target(Environment):
    """Where a configuration is to be deployed.

    Attributes:
        client: Returns the client of an AWS service in that region, by boto3's name of it.
        elsewhere: Returns that of another region, which is its second argument. Default: all
            regions are as that one.
    """

    client: Callable[[str], Any]
    elsewhere: Callable[[str, str], Any] | None = None

    def client_in(self, service: str, region: str) -> Any:  # noqa: ANN401 - a client of boto3
        """Return the client of a service in another region."""
        return self.client(service) if self.elsewhere is None else self.elsewhere(service, region)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What a validator found: the key, what is wrong and what to do; the command that shows it."""

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
    """Return what is wrong with the value of a key."""
    finding = Finding(path=path, value=value, message=message, severity=severity)
    return Problem(finding=finding, command=command)


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Return what a policy has alone or in a list, in a list."""
    return list(value) if isinstance(value, list) else [value]


validator = register
"""Registers the validator of a file of `validators/`; its row says what it blocks or warns of."""
Validator = Registered[[Config, Target], Problem]
