"""How a HyperPod cluster ends: deletion, failure, disappearance."""

import pytest
from botocore.exceptions import ClientError

from emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import STACK_TAG
from provisioner.framework.request import Request
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, Time
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


def test_delete_waits_until_the_cluster_is_gone(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    assert stack.delete().data == {}
    assert sagemaker.writes == ["CreateCluster", "DeleteCluster"]


def test_delete_when_gone(stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time) -> None:
    stack.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    assert stack.delete().complete
    assert sagemaker.writes == ["CreateCluster"]


def test_delete_while_busy_is_made_later(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    sagemaker.service.faults = Faults(delete_conflicts=3)
    assert stack.delete().complete
    assert sagemaker.writes == ["CreateCluster"] + ["DeleteCluster"] * 4


def test_delete_during_create(stack: HyperPodStack) -> None:
    stack.requests += 1
    _, accepted = stack.start("Create", CLASSIC)
    stack.physical_id, stack.properties = accepted.physical_id, CLASSIC
    assert stack.delete().complete


def test_delete_leaves_the_cluster_of_another_stack(sagemaker: LocalSageMaker, time: Time) -> None:
    ours, theirs = (
        hyperpod_stack(sagemaker, time),
        hyperpod_stack(sagemaker, time, stack_id=OTHER_STACK_ID),
    )
    ours.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    theirs.create(ONE)
    assert ours.delete().complete
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_delete_of_a_cluster_without_tags_is_refused_not_forgotten(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    arn = describe(sagemaker)["ClusterArn"]
    sagemaker.service.call("DeleteTags", {"ResourceArn": arn, "TagKeys": [STACK_TAG]}, Caller())
    with pytest.raises(ProvisioningError, match="lost the tags"):
        stack.delete()


def test_failed_create_names_cause_group_and_next_step(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    with pytest.raises(ProvisioningError) as failed:
        stack.create(CLASSIC)
    text = str(failed.value)
    assert "sufficient capacity" in text
    assert "training plan" in text
    assert len(text) < 1000
    assert stack.physical_id == "ml-cluster"
    assert stack.delete().complete


def test_failed_continuous_create_shows_its_error_events(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(create_failure="The EKS access entry is missing.")
    with pytest.raises(ProvisioningError, match="access entry is missing"):
        stack.create(ONE)
    assert sagemaker.last("ListClusterEvents")["SortOrder"] == "Descending"


def test_a_shortage_is_no_failure_of_a_continuous_cluster(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    assert stack.create(ONE).complete


def test_calls_that_are_always_throttled_end_in_time(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    sent, accepted = stack.start("Create", CLASSIC)
    polled = Request.from_event({**sent, **accepted.as_response()})
    sagemaker.service.faults = Faults(throttled_calls={"DescribeCluster": 1_000_000})
    time.sleep(54 * 60)
    assert not stack.resource.is_complete(polled, time.clock).complete
    time.sleep(60)
    with pytest.raises(ClientError, match="Throttling"):
        stack.resource.is_complete(polled, time.clock)


def test_throttled_calls_are_repeated(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    sagemaker.service.faults = Faults(throttled_calls={"CreateCluster": 3})
    assert stack.create(ONE).complete


def test_quota_is_reported_at_once(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    sagemaker.service.faults = Faults(quotas={"ml.m5.2xlarge": 0})
    with pytest.raises(ProvisioningError, match="ResourceLimitExceeded"):
        stack.create(ONE)


def test_names_that_differ_are_refused(stack: HyperPodStack) -> None:
    with pytest.raises(ProvisioningError, match=r"Request\.ClusterName is ml-cluster"):
        stack.create({**ONE, "ClusterName": "other"})


def test_update_that_was_rolled_back_between_two_polls_is_a_failure(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(CLASSIC)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    larger = properties(group("workers", 3), NodeProvisioningMode=None)
    stack.requests += 1
    sent, accepted = stack.start("Update", larger, stack.properties)
    time.sleep(3600)
    assert describe(sagemaker)["ClusterStatus"] == "InService"
    polled = Request.from_event({**sent, **accepted.as_response()})
    with pytest.raises(
        ProvisioningError, match="took its update back: capacity: We currently do not have"
    ):
        stack.resource.is_complete(polled, time.clock)


def test_update_that_is_rolled_back_is_a_failure_and_the_rollback_succeeds(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(CLASSIC)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    before = stack.properties
    larger = properties(group("workers", 3), NodeProvisioningMode=None)
    with pytest.raises(ProvisioningError, match="sufficient capacity"):
        stack.update(larger)
    assert stack.roll_back_update(larger, before).complete
    assert describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 1
