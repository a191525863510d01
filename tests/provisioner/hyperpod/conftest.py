"""Fixtures of the HyperPod cluster's tests."""

import pytest

from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import HyperPodStack, hyperpod_stack
from tests.support.provisioner.local_sagemaker import LocalSageMaker


@pytest.fixture
def stack(sagemaker: LocalSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time)
