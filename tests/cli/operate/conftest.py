"""A Kubernetes API in process with a client of it, and a client of SageMaker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient

from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import client_of
from tests.support.played import stubbed


@pytest.fixture
def api(kubernetes: KubernetesApi, tmp_path: Path) -> Iterator[ApiClient]:
    with client_of(kubernetes, tmp_path) as client:
        yield client


@pytest.fixture
def sagemaker() -> Any:  # noqa: ANN401 - a client
    """Return a client of SageMaker that asks once."""
    return stubbed("sagemaker").client
