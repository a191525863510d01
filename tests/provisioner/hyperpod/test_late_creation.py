"""A Delete that comes while the cluster is being made, or is not visible yet, leaves none."""

from collections.abc import Mapping
from typing import Any

import pytest

from emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.retry import ROLE_PATIENCE_SECONDS
from provisioner.hyperpod.claim import READ_LAG_SECONDS
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    ONE,
    HyperPodStack,
    TroubledSageMaker,
    hyperpod_stack,
    troubled_sagemaker,
)

LATEST = ROLE_PATIENCE_SECONDS + READ_LAG_SECONDS


@pytest.fixture
def sagemaker(time: Time) -> TroubledSageMaker:
    return troubled_sagemaker(time)


@pytest.fixture
def stack(sagemaker: TroubledSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time, physical_id="ml-cluster", properties=ONE)


def is_there(sagemaker: TroubledSageMaker) -> bool:
    listed = sagemaker.service.call("ListClusters", {}, Caller())["ClusterSummaries"]
    return any(cluster["ClusterStatus"] != "Deleting" for cluster in listed)


@pytest.mark.parametrize("turned", ["ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS"])
def test_a_creation_is_not_tried_again_when_the_stack_has_turned(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, turned: str
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=4)

    def turn() -> None:
        stack.cloudformation.status = turned

    time.while_asleep = turn
    with pytest.raises(ProvisioningError, match="deleted or rolled back"):
        stack.begin("Create", ONE)
    assert not is_there(sagemaker)


def test_a_creation_is_tried_again_when_the_stack_cannot_be_asked(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=4)
    stack.cloudformation.error = client_error("AccessDenied", "DescribeStacks")
    stack.begin("Create", ONE)
    assert is_there(sagemaker)


def test_a_rollback_waits_for_a_creation_that_it_does_not_see(
    stack: HyperPodStack, time: Time
) -> None:
    stack.cloudformation.status = "ROLLBACK_IN_PROGRESS"
    waiter = stack.begin("Delete", ONE)
    began = time.now
    while not waiter.poll().complete:
        time.sleep(30)
    assert time.now - began == LATEST


def test_a_delete_of_nothing_that_may_not_ask_for_the_stack_succeeds(stack: HyperPodStack) -> None:
    stack.cloudformation.error = client_error("AccessDenied", "DescribeStacks")
    assert stack.begin("Delete", ONE).poll().complete


@pytest.mark.parametrize("what", ["DescribeCluster", "ListTags"])
def test_a_cluster_that_reads_do_not_find_at_first_is_deleted(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, what: str
) -> None:
    born: list[float] = []

    def after(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == "CreateCluster":
            born.append(time.now)

    def before(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == what and born and time.now < born[0] + 20:
            raise client_error("ResourceNotFound", operation)

    sagemaker.before, sagemaker.after = before, after
    stack.begin("Create", ONE)
    time.sleep(5)
    assert stack.roll_back_creation(ONE).complete
    assert not is_there(sagemaker)


@pytest.mark.parametrize("there", [True, False])
def test_other_deletes_end_at_once(stack: HyperPodStack, time: Time, *, there: bool) -> None:
    if there:
        stack.create(ONE)
        time.sleep(600)
    stack.cloudformation.status = "ROLLBACK_IN_PROGRESS" if there else "DELETE_IN_PROGRESS"
    waiter = stack.begin("Delete", ONE)
    time.sleep(90 if there else 0)
    assert waiter.poll().complete
