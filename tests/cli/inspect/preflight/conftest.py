"""A local AWS for validators to look at."""

from collections.abc import Iterator

import pytest

from emulator.aws.clients import aws_clients
from emulator.aws.local_aws import LocalAws, LocalAwsSettings
from hyperpod_cli.inspect.preflight.validator import Place

ACCOUNT, REGION = "111122223333", "us-west-2"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """The account of the tests of a validator, which make what it looks at."""
    with LocalAws(LocalAwsSettings(account=ACCOUNT, region=REGION)) as aws:
        yield Place(partition="aws", account=ACCOUNT, region=REGION, client=aws_clients(aws))
