"""A Kubernetes API in process, and a client of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes.client import ApiClient, Configuration

from emulator.kubernetes import KubernetesApi
from tests.support.kubernetes_api import ADMIN


@pytest.fixture
def api(kubernetes: KubernetesApi, tmp_path: Path) -> Iterator[ApiClient]:
    authority = tmp_path / "ca.pem"
    authority.write_text(kubernetes.ca_pem)
    configuration = Configuration(host=kubernetes.url)
    configuration.api_key = {"authorization": f"Bearer {ADMIN}"}
    configuration.ssl_ca_cert = str(authority)
    with ApiClient(configuration) as client:
        yield client
