"""Fixtures of the provisioner's tests."""

import pytest

from rehearsal.hyperpod_api import HyperPodService
from tests.handlers.cloudformation import Time
from tests.handlers.hyperpod_stack import TIMINGS
from tests.handlers.local_sagemaker import LocalSageMaker


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sagemaker(time: Time) -> LocalSageMaker:
    return LocalSageMaker(service=HyperPodService(clock=lambda: time.now, timings=TIMINGS))
