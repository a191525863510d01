"""Fixtures of the provisioner's tests."""

from collections.abc import Iterator
from typing import cast

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

from provisioner.aws_api import SageMakerApi
from provisioner.hyperpod_cluster import HyperPodCluster
from rehearsal.hyperpod_api import HyperPodService
from tests.handlers.cloudformation import Framework, Time
from tests.handlers.fake_stack import FakeAccessEntries, FakeCloudFormation
from tests.handlers.hyperpod_stack import TIMINGS
from tests.handlers.local_sagemaker import LocalSageMaker


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sagemaker(time: Time) -> LocalSageMaker:
    return LocalSageMaker(service=HyperPodService(clock=lambda: time.now, timings=TIMINGS))


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
            sagemaker=cast("SageMakerApi", stubber.client),
            access_entries=FakeAccessEntries(),
            cloudformation=FakeCloudFormation(),
        ),
        resource_type="Custom::HyperPodCluster",
        time=Time(),
    )
