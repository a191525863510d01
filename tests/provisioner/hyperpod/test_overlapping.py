"""Requests about one HyperPod cluster that overlap, come late, or find what others left."""

from typing import Any, Literal

import pytest

from emulator.hyperpod import Caller, Faults, HyperPodService, Unknowns
from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID, Time, Waiter
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
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

NINE = properties(group("workers", 9))


@pytest.fixture
def stack(stack: HyperPodStack) -> HyperPodStack:
    stack.create(ONE)
    return stack


def target_counts(sagemaker: LocalSageMaker) -> dict[str, int]:
    groups = describe(sagemaker)["InstanceGroups"]
    return {item["InstanceGroupName"]: item["TargetCount"] for item in groups}


def poll(*waiters: Waiter) -> None:
    """Poll in turn for half an hour, 30 seconds apart; who fails has its end."""
    left = list(waiters)
    for _ in range(60):
        for waiter in list(left):
            try:
                done = waiter.poll().complete
            except ProvisioningError:
                done = True
            if done:
                left.remove(waiter)
        waiters[0].time.sleep(30)


def cancel(
    stack: HyperPodStack, wanted: dict[str, Any], before: dict[str, Any]
) -> tuple[Waiter, Waiter]:
    """Begin an update, cancel it, begin its rollback; both go on polling."""
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    cancelled = stack.begin("Update", wanted, before)
    stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    return cancelled, stack.begin("Update", before, wanted)


def test_a_cancelled_update_does_not_create_a_cluster_that_is_gone(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    cancelled, rollback = cancel(stack, NINE, ONE)
    sagemaker.calls.clear()
    poll(rollback, cancelled)
    assert sagemaker.writes == []


def test_a_create_does_nothing_to_the_cluster_that_a_delete_has(
    sagemaker: LocalSageMaker, time: Time
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    creation = stack.begin("Create", CLASSIC)
    stack.physical_id, stack.cloudformation.status = "ml-cluster", "DELETE_IN_PROGRESS"
    deletion = stack.begin("Delete", CLASSIC)
    poll(creation, deletion)
    assert sagemaker.writes.count("CreateCluster") == 1
    with pytest.raises(Exception, match="not found"):
        describe(sagemaker)


@pytest.mark.parametrize("lag", [20.0, 100.0])
def test_tags_that_are_visible_late_do_not_make_a_request_stale(time: Time, lag: float) -> None:
    service = HyperPodService(
        clock=lambda: time.now, timings=TIMINGS, unknowns=Unknowns(tag_lag=lag)
    )
    sagemaker = LocalSageMaker(service=service)
    stack = hyperpod_stack(sagemaker, time)
    assert stack.create(ONE).complete
    three = properties(group("workers", 3), Tags=[{"Key": "cost", "Value": "1"}])
    stack.update(three)
    stack.update({**three, "SoftwareUpdate": "2026-11"})
    assert stack.roll_back_update({**three, "SoftwareUpdate": "2026-11"}, three).complete
    assert target_counts(sagemaker) == {"workers": 3}
    assert sagemaker.writes.count("UpdateClusterSoftware") == 1
    time.sleep(lag)
    assert stack.delete().complete


def test_a_retried_create_whose_tags_are_not_visible_finds_its_cluster(time: Time) -> None:
    service = HyperPodService(
        clock=lambda: time.now, timings=TIMINGS, unknowns=Unknowns(tag_lag=60)
    )
    sagemaker = LocalSageMaker(service=service)
    stack = hyperpod_stack(sagemaker, time)
    stack.requests = 1
    stack.start("Create", ONE)
    stack.requests = 0
    assert stack.create(ONE).complete
    assert sagemaker.writes == ["CreateCluster"]


def test_an_update_refuses_the_cluster_of_another_stack(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    hyperpod_stack(sagemaker, time, stack_id=OTHER_STACK_ID).create(ONE)
    sagemaker.calls.clear()
    with pytest.raises(ProvisioningError, match=f"belongs to the resource .* {OTHER_STACK_ID}"):
        stack.update(NINE)
    assert stack.roll_back_update(NINE, ONE).complete
    assert sagemaker.writes == []
    assert target_counts(sagemaker) == {"workers": 1}
    assert STACK_ID not in tags_of_cluster(sagemaker).values()


@pytest.mark.parametrize("answered", [{"WaitMinutes": "1"}, {"WaitFor": "accepted"}])
def test_a_creation_that_failed_after_its_answer_is_replaced_by_the_next_update(
    sagemaker: LocalSageMaker, time: Time, answered: dict[str, str]
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    sagemaker.service.faults = Faults(create_failure="The EKS access entry is missing.")
    before = {**CLASSIC, **answered}
    assert stack.create(before).data["ClusterStatus"] == "Creating"
    time.sleep(TIMINGS.create + 60)
    failed = describe(sagemaker)
    assert failed["ClusterStatus"] == "Failed"
    sagemaker.service.faults = Faults()
    larger = properties(group("workers", 2), NodeProvisioningMode=None)
    assert stack.update(larger).data["ClusterArn"] != failed["ClusterArn"]
    assert target_counts(sagemaker) == {"workers": 2}


def test_a_cluster_that_failed_after_it_worked_is_not_replaced(
    sagemaker: LocalSageMaker, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    stack.create(CLASSIC)
    real = sagemaker.describe_cluster
    failed = {"ClusterStatus": "Failed", "InstanceGroups": [], "FailureMessage": "Broken"}
    monkeypatch.setattr(sagemaker, "describe_cluster", lambda **ask: {**real(**ask), **failed})
    with pytest.raises(ProvisioningError, match="is Failed: Broken"):
        stack.update({**CLASSIC, "WaitMinutes": "30"})
    assert "DeleteCluster" not in sagemaker.writes


def test_a_group_that_a_rollback_had_no_time_to_remove_is_removed_by_the_next_update(
    sagemaker: LocalSageMaker, time: Time
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    before = {**CLASSIC, "WaitMinutes": "5", "OnShortage": "fail"}
    stack.create(before)
    sagemaker.service.faults = Faults(slow_nodes={"more": 36_000.0})
    two = properties(group("workers"), group("more"), NodeProvisioningMode=None)
    wanted = {**before, "Request": two["Request"]}
    with pytest.raises(ProvisioningError, match="was not ready after 5 minutes"):
        stack.update(wanted)
    assert "the cluster is Updating" in stack.roll_back_update(wanted, before).data["Shortage"]
    time.sleep(36_000)
    assert target_counts(sagemaker) == {"workers": 1, "more": 1}
    stack.update(properties(group("workers", 2), NodeProvisioningMode=None))
    time.sleep(300)
    assert target_counts(sagemaker) == {"workers": 2}


@pytest.mark.parametrize("left_out", ["kept", "removed"])
def test_groups_that_are_not_asked_to_change_stay_as_they_are(
    time: Time, left_out: Literal["kept", "removed"]
) -> None:
    service = HyperPodService(
        clock=lambda: time.now, timings=TIMINGS, unknowns=Unknowns(left_out_groups=left_out)
    )
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    stack.create(properties(group("workers"), group("scaled")))
    nodes = [{"InstanceGroupName": "scaled", "IncrementTargetCountBy": 4}]
    service.call(
        "BatchAddClusterNodes", {"ClusterName": "ml-cluster", "NodesToAdd": nodes}, Caller()
    )
    for wanted in (
        properties(group("workers", 3), group("scaled")),
        properties(group("workers", 3), group("scaled"), NodeRecovery="None"),
    ):
        stack.update(wanted)
        time.sleep(300)
        described = service.call("DescribeCluster", {"ClusterName": "ml-cluster"}, Caller())
        counts = {g["InstanceGroupName"]: g["CurrentCount"] for g in described["InstanceGroups"]}
        assert counts == {"workers": 3, "scaled": 5}
