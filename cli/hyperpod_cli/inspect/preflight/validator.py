"""What a validator is, and what it may look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cli.aws.account import Environment


@dataclass(frozen=True, kw_only=True, slots=True)
class Place(Environment):
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


Validator = Callable[[Config, Place], Iterator[Problem]]
"""Yields what would fail; calls that only read. Raises botocore's errors."""
