"""Fixtures of the provisioner's tests."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

from hyperpod_emulator.hyperpod import HyperPodService, Unknowns
from hyperpod_emulator.kubernetes import KubernetesApi, Principal, static_tokens
from provisioner import handler
from provisioner.hyperpod.cluster import HyperPodCluster
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.helm_cloud import TOKEN, Cloud, mounted_layer
from tests.support.provisioner.hyperpod_stack import TIMINGS
from tests.support.provisioner.local_sagemaker import LocalSageMaker


@pytest.fixture(autouse=True)
def _journal_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNAL_TABLE", "journal")


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def unknowns() -> Unknowns:
    return Unknowns()


@pytest.fixture
def sagemaker(time: Time, unknowns: Unknowns) -> LocalSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS, unknowns=unknowns)
    return LocalSageMaker(service=service)


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    client = boto3.client(
        "sagemaker",
        region_name="us-west-2",
        aws_access_key_id="x",
        aws_secret_access_key="x",  # noqa: S106 - nothing is sent
        config=Config(retries={"total_max_attempts": 1}),
    )
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def stubbed_stack(stubber: Stubber) -> Framework:
    return Framework(
        resource=HyperPodCluster(
            sagemaker=stubber.client,
            delete_node_objects=lambda *_: None,
        ),
        resource_type="Custom::HyperPodCluster",
        time=Time(),
    )


@pytest.fixture(scope="session")
def first_cloud() -> Iterator[Cloud]:
    """A cloud with a Kubernetes API in which is nothing."""
    admin = Principal(username="provisioner", allowed=True)
    with KubernetesApi(authenticate=static_tokens({TOKEN: admin})) as api:
        yield Cloud(api=api)


@pytest.fixture
def cloud(first_cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    """Return a cloud with a Kubernetes API, the real helm and the charts 1.0.0 and 2.0.0."""
    monkeypatch.setenv("_LAMBDA_LAYERS_DIRS", str(mounted_layer(tmp_path / "layer")))
    put_back = first_cloud.api.kept()
    made = Cloud(api=first_cloud.api, made=first_cloud.made)
    for version in ("1.0.0", "2.0.0"):
        made.add_chart(version)
    monkeypatch.setattr(handler, "CLIENTS", made)
    yield made
    put_back()
