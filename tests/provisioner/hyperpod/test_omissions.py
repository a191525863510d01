"""A cluster's life on a HyperPod whose answers lack what AWS may leave out."""

from random import Random

import pytest

from hyperpod_emulator.hyperpod import Faults, HyperPodService
from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
    ONE,
    TIMINGS,
    HyperPodStack,
    describe,
    group,
    hyperpod_stack,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

SEEDS = range(8)


def played(seed: int) -> tuple[HyperPodStack, LocalSageMaker]:
    time = Time()
    omissions = Random(seed)  # noqa: S311 - no secret
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS, omissions=omissions)
    sagemaker = LocalSageMaker(service=service)
    return hyperpod_stack(sagemaker, time), sagemaker


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_comes_changes_and_goes(seed: int) -> None:
    stack, sagemaker = played(seed)
    stack.create(ONE)
    stack.update(properties(group("workers", 3), group("others")))
    groups = describe(sagemaker)["InstanceGroups"]
    assert {each["InstanceGroupName"]: each["CurrentCount"] for each in groups} == {
        "workers": 3,
        "others": 1,
    }
    stack.update(properties(group("workers", 2)))
    stack.delete()
    assert sagemaker.writes[-1] == "DeleteCluster"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_creation_that_fails_names_the_cluster(seed: int) -> None:
    stack, sagemaker = played(seed)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    with pytest.raises(ProvisioningError, match=r"cluster ml-cluster is Failed: group workers"):
        stack.create(CLASSIC)
