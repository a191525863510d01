"""What a validator is, and what it may look at: the account, and what is deployed there already."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.inspect.registered import Registered, register


@dataclass(frozen=True, kw_only=True, slots=True)
class Target(Environment):
    """Where a configuration is to be deployed.

    `client` returns the client of a service, by boto3's name of it, there or in another region.
    """

    client: Callable[..., Any]


Problem = tuple[Finding, str]
"""The key, what is wrong and what to do; and the command that shows it, as of the AWS CLI."""
Problems = Iterator[Problem]
Validate = Callable[[Config, Target], Problems]
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


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Return what a policy has alone or in a list, in a list."""
    return list(value) if isinstance(value, list) else [value]


validator = register
"""Registers the validator of a file of `validators/`; its docstring says what is blocked."""
Validator = Registered[[Config, Target], Problem]
