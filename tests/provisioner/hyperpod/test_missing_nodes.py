"""What a deployment that waits for nodes does and says when some do not come."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from syrupy.assertion import SnapshotAssertion

from hyperpod_emulator.hyperpod import Caller, Faults, HyperPodService, Unknowns
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    ANOTHER_EKS_CLUSTER,
    CURRENT_COUNT,
    TIMINGS,
    HyperPodStack,
    TroubledSageMaker,
    describe,
    group,
    hyperpod_stack,
    properties,
    throttling,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

pytestmark = CURRENT_COUNT

NODES = {"WaitFor": "nodes"}
NO_CAPACITY = Faults(capacity_shortage=frozenset({"workers"}))
BROKEN_SCRIPT = Faults(lifecycle_script_failure=frozenset({"workers"}))
FAILED_CHECKS = Faults(deep_health_check_failure=frozenset({"workers"}))
CHECKED: dict[str, Any] = {
    "InstanceType": "ml.g5.12xlarge",
    "OnStartDeepHealthChecks": ["InstanceStress"],
}
MINUTE = 60.0


def nodes(*groups: dict[str, Any], **more: str) -> dict[str, str]:
    return {**properties(*groups), **NODES, **more}


def report(shortage: str) -> list[str]:
    head, *lines = shortage.splitlines()
    assert "aws sagemaker describe-cluster" in head
    return lines


def test_a_shortage_is_told_as_soon_as_it_is_clear(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = NO_CAPACITY
    started = time.now
    data = stack.create(nodes(group("workers", 4), group("others"))).data
    assert data["Shortage"] == snapshot
    assert time.now - started < 10 * MINUTE
    assert data["ClusterStatus"] == "InService"


def test_nodes_on_their_way_are_waited_for_beside_a_group_that_is_short(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = replace(NO_CAPACITY, slow_nodes={"others": 900.0})
    told = report(stack.create(nodes(group("workers"), group("others", 2))).data["Shortage"])
    assert [line.split(":")[0] for line in told] == ["workers"]


def test_without_a_cause_the_deployment_waits_to_its_end(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    started = time.now
    assert stack.create(nodes(group("workers"), WaitMinutes="30")).data["Shortage"] == snapshot
    assert 30 * MINUTE <= time.now - started <= 31 * MINUTE


@pytest.mark.parametrize("count", [1, 3])
def test_a_script_that_fails_on_every_node_is_a_failure(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, count: int, raises: Raises
) -> None:
    sagemaker.service.faults = replace(
        BROKEN_SCRIPT, capacity_shortage=frozenset({"large"}), slow_nodes={"workers": 60.0}
    )
    started = time.now
    with raises(ProvisioningError):
        stack.create(nodes(group("large"), group("workers", count), group("others")))
    assert time.now - started < 20 * MINUTE
    with raises(ProvisioningError):
        stack.roll_back_creation(stack.properties)


def test_a_script_that_fails_on_some_nodes_is_told(
    stack: HyperPodStack, sagemaker: LocalSageMaker, snapshot: SnapshotAssertion
) -> None:
    stack.create(nodes(group("workers")))
    sagemaker.service.faults = BROKEN_SCRIPT
    assert stack.update(nodes(group("workers", 3))).data["Shortage"] == snapshot


def test_a_new_group_whose_script_fails_is_rolled_back_without_waiting(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    before, wanted = nodes(group("others")), nodes(group("others"), group("workers"))
    stack.create(before)
    sagemaker.service.faults = replace(BROKEN_SCRIPT, capacity_shortage=frozenset({"others"}))
    with raises(ProvisioningError):
        stack.update(wanted)
    started = time.now
    assert stack.roll_back_update(wanted, before).complete
    assert time.now - started < 10 * MINUTE
    groups = describe(sagemaker)["InstanceGroups"]
    assert [each["InstanceGroupName"] for each in groups if each["Status"] != "Deleting"] == [
        "others"
    ]


def test_deep_health_checks_are_not_waited_for_to_their_end(
    unknowns: Unknowns, time: Time, snapshot: SnapshotAssertion
) -> None:
    hours = replace(TIMINGS, deep_health_check=3 * 60 * MINUTE)
    service = HyperPodService(clock=lambda: time.now, timings=hours, unknowns=unknowns)
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    started = time.now
    assert stack.create(nodes(group("workers", 2, **CHECKED))).data["Shortage"] == snapshot
    assert time.now - started < 20 * MINUTE


def test_checks_that_fail_are_told(
    stack: HyperPodStack, sagemaker: LocalSageMaker, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = FAILED_CHECKS
    assert stack.create(nodes(group("workers", **CHECKED))).data["Shortage"] == snapshot


def test_a_change_that_concerns_no_node_tells_what_was_short_before(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = NO_CAPACITY
    wanted = nodes(group("workers"))
    stack.create(wanted)
    time.sleep(10 * MINUTE)
    started = time.now

    def update(team: str) -> str:
        tags = [{"Key": "team", "Value": team}]
        wanted = {**properties(group("workers"), Tags=tags), **NODES}
        (told,) = report(stack.update(wanted).data["Shortage"])
        return told

    assert update("other") == snapshot(name="before")
    assert time.now - started <= MINUTE
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    time.sleep(120 * MINUTE)
    assert update("third") == snapshot(name="later")


def test_an_operators_group_is_not_waited_for_but_told(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"operators"}))
    stack.create(nodes(group("workers"), OnShortage="fail"))
    sagemaker.update_cluster(
        ClusterName="ml-cluster", InstanceGroups=[group("workers"), group("operators")]
    )
    time.sleep(MINUTE)
    started = time.now
    data = stack.update(nodes(group("workers", 2), OnShortage="fail")).data
    assert time.now - started < 10 * MINUTE
    assert [line.split(":")[0] for line in report(data["Shortage"])] == ["operators"]


def test_what_is_not_waited_for_is_told_too(
    stack: HyperPodStack, sagemaker: LocalSageMaker, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 600.0})
    in_service = {**properties(group("workers")), "WaitFor": "in_service"}
    assert report(stack.create(in_service).data["Shortage"]) == snapshot
    other = properties(group("workers"), name="other", **ANOTHER_EKS_CLUSTER)
    told_at_once = stack.update({**other, "WaitFor": "accepted"}).data["Shortage"]
    assert "the cluster is Creating." in report(told_at_once)


def test_a_group_with_its_least_number_of_nodes_is_complete_and_short(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(nodes(group("workers")))
    sagemaker.service.faults = NO_CAPACITY
    (told,) = report(stack.update(nodes(group("workers", 4, MinInstanceCount=1))).data["Shortage"])
    assert told.startswith("workers: 1 of 4 nodes: ")


# Where CurrentCount counts launched nodes, only their list tells that they do not work yet.

WANTED = {**properties(group("workers", 2)), "WaitFor": "nodes", "WaitMinutes": "30"}
SLOW = {"workers": 600.0}
UNAVAILABLE = client_error("503", "ListClusterNodes", status=503)
DENIED = client_error("AccessDeniedException", "ListClusterNodes", "no")
PASSING = pytest.mark.parametrize(
    "error",
    [
        throttling(),
        UNAVAILABLE,
        ReadTimeoutError(endpoint_url="https://api.sagemaker.us-west-2.amazonaws.com"),
        client_error("ResourceNotFound", "ListClusterNodes", "not visible yet"),
    ],
    ids=["throttled", "out of service", "timed out", "not visible"],
)


@pytest.fixture
def sagemaker(time: Time, unknowns: Unknowns) -> TroubledSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS, unknowns=unknowns)
    return TroubledSageMaker(service=service)


@pytest.fixture
def stack(sagemaker: TroubledSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time)


def statuses(sagemaker: TroubledSageMaker) -> list[str]:
    listed = sagemaker.service.call("ListClusterNodes", {"ClusterName": "ml-cluster"}, Caller())
    return [node["InstanceStatus"]["Status"] for node in listed["ClusterNodeSummaries"]]


def refuse_one_list(sagemaker: TroubledSageMaker, error: Exception) -> list[str]:
    """Refuse the first list when all nodes are launched; return what it would have shown."""
    refused: list[str] = []

    def first() -> bool:
        found = statuses(sagemaker)
        if refused or found != ["Pending"] * 2:
            return False
        refused.extend(found)
        return True

    sagemaker.refuse("ListClusterNodes", error, when=first)
    return refused


@PASSING
def test_a_list_that_is_refused_once_does_not_end_the_wait(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, error: Exception
) -> None:
    sagemaker.service.faults = Faults(slow_nodes=SLOW)
    refused = refuse_one_list(sagemaker, error)
    assert stack.create(WANTED).data["Shortage"] == "none"
    assert (refused, statuses(sagemaker)) == (["Pending"] * 2, ["Running"] * 2)


@PASSING
def test_a_list_that_is_refused_once_does_not_hide_a_broken_script(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, error: Exception, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(
        slow_nodes=SLOW, lifecycle_script_failure=frozenset({"workers"})
    )
    refused = refuse_one_list(sagemaker, error)
    with raises(ProvisioningError):
        stack.create(WANTED)
    assert refused


def test_a_list_that_is_throttled_at_the_deadline_is_asked_for_again(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 2_400.0})
    late = time.now + 30 * MINUTE
    sagemaker.refuse("ListClusterNodes", throttling(), when=lambda: late <= time.now < late + 20)
    shortage = stack.create(WANTED).data["Shortage"]
    assert "could not be listed" not in shortage
    assert "workers: 0 of 2 nodes" in shortage


@pytest.mark.parametrize("error", [throttling(), UNAVAILABLE], ids=["throttled", "out of service"])
def test_lists_that_are_refused_without_end_are_told_at_the_deadline(
    *,
    stack: HyperPodStack,
    sagemaker: TroubledSageMaker,
    time: Time,
    error: Exception,
    snapshot: SnapshotAssertion,
) -> None:
    sagemaker.refuse("ListClusterNodes", error)
    started = time.now
    data = stack.create(WANTED).data
    assert data["Shortage"] == snapshot
    assert 30 * MINUTE <= time.now - started <= 33 * MINUTE
    assert data["ClusterStatus"] == "InService"


def test_nodes_that_cannot_be_listed_are_counted_as_described(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, snapshot: SnapshotAssertion
) -> None:
    sagemaker.refuse("ListClusterNodes", DENIED)
    started = time.now
    assert stack.create(WANTED).data["Shortage"] == snapshot
    assert describe(sagemaker)["InstanceGroups"][0]["CurrentCount"] == 2
    assert time.now - started < 10 * MINUTE


def test_what_is_short_is_told_beside_it(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    sagemaker.refuse("ListClusterNodes", DENIED)
    assert stack.create(WANTED).data["Shortage"] == snapshot


@pytest.mark.parametrize("wait_for", ["nodes", "in_service"])
@pytest.mark.parametrize("error", [throttling(), DENIED], ids=["throttled", "denied"])
def test_no_update_fails_for_it(
    *,
    stack: HyperPodStack,
    sagemaker: TroubledSageMaker,
    error: Exception,
    wait_for: str,
    snapshot: SnapshotAssertion,
) -> None:
    stack.create(WANTED)
    sagemaker.refuse("ListClusterNodes", error)
    tags = [{"Key": "team", "Value": "other"}]
    changed = {**properties(group("workers", 2), Tags=tags), "WaitMinutes": "5"}
    assert stack.update({**changed, "WaitFor": wait_for}).data["Shortage"] == snapshot
