"""Fixtures of the provisioner's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from provisioner import handler
from rehearsal.hyperpod_api import HyperPodService
from rehearsal.kubernetes_api import KubernetesApi, Principal, static_tokens
from tests.handlers.cloudformation import Time
from tests.handlers.helm_cloud import TOKEN, Cloud, mounted_layer
from tests.handlers.hyperpod_stack import TIMINGS
from tests.handlers.local_sagemaker import LocalSageMaker


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sagemaker(time: Time) -> LocalSageMaker:
    return LocalSageMaker(service=HyperPodService(clock=lambda: time.now, timings=TIMINGS))


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    """Return a cloud with a Kubernetes API, the real helm and the charts 1.0.0 and 2.0.0."""
    monkeypatch.setenv("_LAMBDA_LAYERS_DIRS", str(mounted_layer(tmp_path / "layer")))
    admin = Principal(username="provisioner", allowed=True)
    with KubernetesApi(authenticate=static_tokens({TOKEN: admin})) as api:
        made = Cloud(api=api)
        for version in ("1.0.0", "2.0.0"):
            made.add_chart(version)
        monkeypatch.setattr(handler, "CLIENTS", made)
        yield made
