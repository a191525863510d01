"""A HyperPod cluster that somebody deleted, and what it leaves behind."""

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID, Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    ONE,
    TIMINGS,
    HyperPodStack,
    describe,
    group,
    hyperpod_stack,
    properties,
    tags_of_cluster,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

TWO = properties(group("workers", 2), group("others", 1))


def delete_outside(sagemaker: LocalSageMaker, time: Time) -> None:
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)


def test_update_creates_it_anew_and_whole(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(ONE)
    old = describe(sagemaker)["ClusterArn"]
    delete_outside(sagemaker, time)
    assert stack.update(TWO).data["ClusterArn"] != old
    counts = {
        item["InstanceGroupName"]: item["TargetCount"]
        for item in describe(sagemaker)["InstanceGroups"]
    }
    assert counts == {"workers": 2, "others": 1}
    assert "UpdateCluster" not in sagemaker.writes
    assert stack.update(ONE).complete
    assert stack.delete().complete


def test_update_while_it_is_being_deleted(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    assert stack.update(TWO).complete
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_rollback_does_not_create_it_anew(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(ONE)
    delete_outside(sagemaker, time)
    sagemaker.service.faults = Faults(quotas={"ml.m5.2xlarge": 0})
    with raises(ProvisioningError):
        stack.update(TWO)
    progress = stack.roll_back_update(TWO, ONE)
    assert (progress.data["ClusterStatus"], progress.data["ClusterArn"]) == ("Deleted", "none")


def test_cluster_that_somebody_deletes_while_it_is_created(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    waiter = stack.start("Create", ONE)
    time.sleep(TIMINGS.create + 60)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    with raises(ProvisioningError):
        waiter.poll()


def test_cluster_that_disappears_while_it_is_created_is_created_anew(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    waiter = stack.start("Create", ONE)
    time.sleep(TIMINGS.create + 60)
    delete_outside(sagemaker, time)
    assert not waiter.poll().complete
    assert describe(sagemaker)["ClusterStatus"] == "Creating"


def test_delete_of_a_stack_that_cloudformation_has_forgotten(stack: HyperPodStack) -> None:
    stack.create(ONE)
    waiter = stack.start("Delete", ONE)
    assert waiter.event["PhysicalResourceId"] == "ml-cluster"
    stack.cloudformation.status = None
    while not waiter.poll().complete:
        stack.time.sleep(30)


def test_a_delete_that_may_not_ask_for_the_stack_succeeds(stack: HyperPodStack) -> None:
    stack.create(ONE)
    stack.cloudformation.error = client_error("AccessDenied", "DescribeStacks")
    assert stack.delete().complete


def test_an_update_refuses_the_cluster_of_another_stack(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(ONE)
    delete_outside(sagemaker, time)
    hyperpod_stack(sagemaker, time, stack_id=OTHER_STACK_ID).create(ONE)
    sagemaker.calls.clear()
    with raises(ProvisioningError):
        stack.update(TWO)
    assert stack.roll_back_update(TWO, ONE).complete
    assert sagemaker.writes == []
    assert [each["TargetCount"] for each in describe(sagemaker)["InstanceGroups"]] == [1]
    assert STACK_ID not in tags_of_cluster(sagemaker).values()
