"""One local AWS for what the product asks of its services; each test has resources of its own."""

from collections.abc import Iterator

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws


@pytest.fixture(scope="session")
def aws() -> Iterator[LocalAws]:
    """Return a local AWS without a HyperPod API."""
    with LocalAws() as running:
        yield running
