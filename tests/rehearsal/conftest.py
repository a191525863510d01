"""Fixtures of the rehearsal's tests."""

from collections.abc import Iterator

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a Kubernetes API that the tests of one file share."""
    with running_cluster(tmp_path_factory.mktemp("home")) as running:
        yield running
