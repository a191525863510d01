"""A Kubernetes API in process with a client of it, and a client of SageMaker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from kubernetes.client import ApiClient

from emulator.kubernetes import KubernetesApi
from tests.support.kubernetes_api import client_of


@pytest.fixture
def api(kubernetes: KubernetesApi, tmp_path: Path) -> Iterator[ApiClient]:
    with client_of(kubernetes, tmp_path) as client:
        yield client


@pytest.fixture
def sagemaker(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a client
    """Return a client of SageMaker that asks once."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return boto3.client("sagemaker", "us-west-2", config=Config(retries={"total_max_attempts": 1}))
