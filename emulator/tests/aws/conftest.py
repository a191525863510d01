"""One local AWS for all tests of a worker; each test makes, and looks at, resources of its own."""

from collections.abc import Iterator

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws, LocalAwsSettings
from hyperpod_emulator.testing import site as hyperpod_site
from hyperpod_emulator.testing.site import Site
from hyperpod_emulator.testing.stacks import KUBERNETES_CA, KUBERNETES_ENDPOINT


@pytest.fixture(scope="session")
def aws() -> Iterator[LocalAws]:
    """Return a local AWS without a HyperPod API."""
    settings = LocalAwsSettings(
        ended_versions=["1.28"],
        kubernetes_endpoint=KUBERNETES_ENDPOINT,
        kubernetes_ca=KUBERNETES_CA,
    )
    with LocalAws(settings) as running:
        yield running


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    with hyperpod_site.site() as running:
        yield running


@pytest.fixture
def site(shared_site: Site) -> Site:
    """Return a local AWS with a HyperPod API that knows no cluster yet."""
    shared_site.hyperpod.clusters.clear()
    shared_site.hyperpod.calls.clear()
    return shared_site
