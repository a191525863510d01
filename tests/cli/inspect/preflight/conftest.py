"""A local AWS for validators to look at."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.validator import Target, Validate
from hyperpod_emulator.aws.local_aws import LocalAws, LocalAwsSettings, aws_clients
from hyperpod_emulator.hyperpod.server import HyperPodApi

ACCOUNT, REGION = "111122223333", "us-west-2"


@pytest.fixture(scope="module")
def hyperpod() -> HyperPodApi | None:
    """What answers for HyperPod: nothing, unless a module has its own."""
    return None


@pytest.fixture(scope="module")
def target(hyperpod: HyperPodApi | None) -> Iterator[Target]:
    """The account of a module's tests, which make what it holds: others would be in their way."""
    api = "" if hyperpod is None else hyperpod.url
    settings = LocalAwsSettings(account=ACCOUNT, region=REGION, hyperpod_api=api)
    with LocalAws(settings) as aws:
        yield Target(partition="aws", account=ACCOUNT, region=REGION, client=aws_clients(aws))


def lines(validator: Validate, config: Config, target: Target) -> list[str]:
    """Return what a validator finds, in lines."""
    return [str(finding) for finding, _ in validator(config, target)]


def with_methods(target: Target, service: str, **methods: Any) -> Target:
    """Return a place where some methods of the client of a service answer otherwise."""

    def client(name: str) -> Any:  # noqa: ANN401 - any service
        found = target.client(name)
        return Mock(wraps=found, **methods) if name == service else found

    return replace(target, client=client)
