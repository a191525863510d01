"""A Kubernetes API in process, for what the commands see of one."""

from collections.abc import Iterator

import pytest

from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.testing.kubernetes_api import PRINCIPALS


@pytest.fixture
def kubernetes() -> Iterator[KubernetesApi]:
    """Return a cluster without nodes and components."""
    with KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as api:
        yield api
