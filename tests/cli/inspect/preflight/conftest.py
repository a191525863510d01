"""A local AWS for validators to look at."""

from collections.abc import Iterator

import pytest

from emulator.aws.local_aws import LocalAws, LocalAwsSettings, aws_clients
from hyperpod_cli.inspect.preflight.validator import Target

ACCOUNT, REGION = "111122223333", "us-west-2"


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """The account of the tests of a validator, which make what it looks at."""
    with LocalAws(LocalAwsSettings(account=ACCOUNT, region=REGION)) as aws:
        yield Target(partition="aws", account=ACCOUNT, region=REGION, client=aws_clients(aws))
