"""How far a deployment waits for a HyperPod cluster, and what happens when it is late."""

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.request import BEGUN_AT, OPERATION
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
    ONE,
    HyperPodStack,
    describe,
    group,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

SHORT = Faults(capacity_shortage=frozenset({"workers"}))
NODES = {"WaitFor": "nodes", "WaitMinutes": "20"}
MINUTE = 60


@pytest.mark.parametrize(
    ("wait_for", "status", "nodes"),
    [("accepted", "Creating", 0), ("in_service", "InService", 0), ("nodes", "InService", 3)],
)
def test_done_when(
    stack: HyperPodStack, sagemaker: LocalSageMaker, wait_for: str, status: str, nodes: int
) -> None:
    # Thirty seconds between two polls; the nodes take a minute each way.
    sagemaker.service.faults = Faults(slow_nodes={"workers": 120.0})
    progress = stack.create({**properties(group("workers", 3)), "WaitFor": wait_for})
    assert progress.data["ClusterStatus"] == status
    assert describe(sagemaker)["InstanceGroups"][0]["CurrentCount"] == nodes


def test_a_late_deployment_fails_if_asked_to(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    sagemaker.service.faults = SHORT
    started = time.now
    with raises(ProvisioningError):
        stack.create({**properties(group("workers", 4)), **NODES, "OnShortage": "fail"})
    assert 20 * MINUTE <= time.now - started <= 21 * MINUTE


@pytest.mark.parametrize(("on_shortage", "completes"), [("continue", True), ("fail", False)])
def test_a_cluster_that_takes_too_long(
    stack: HyperPodStack,
    sagemaker: LocalSageMaker,
    *,
    on_shortage: str,
    completes: bool,
    raises: Raises,
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    wanted = {**CLASSIC, "WaitMinutes": "5", "OnShortage": on_shortage}
    if completes:
        progress = stack.create(wanted)
        assert progress.data["ClusterStatus"] == "Creating"
        assert "the cluster is Creating" in progress.data["Shortage"]
    else:
        with raises(ProvisioningError):
            stack.create(wanted)


def test_errors_of_earlier_deployments_are_not_blamed(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, snapshot: SnapshotAssertion
) -> None:
    sagemaker.service.faults = SHORT
    stack.create(ONE)
    time.sleep(3600)
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    time.sleep(600)  # the last launch under the old faults has failed by now
    progress = stack.update({**properties(group("workers", 2)), **NODES})
    assert progress.data["Shortage"].splitlines()[1:] == snapshot


def test_a_rollback_is_not_failed_for_being_late(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    strict = {**NODES, "OnShortage": "fail"}
    before = {**properties(group("workers", 1)), **strict}
    wanted = {**properties(group("workers", 3)), **strict}
    stack.create(before)
    sagemaker.service.faults = SHORT
    instance = sagemaker.service.call("ListClusterNodes", {"ClusterName": "ml-cluster"}, Caller())[
        "ClusterNodeSummaries"
    ][0]["InstanceId"]
    sagemaker.service.replace_node(cluster="ml-cluster", instance_id=instance)
    with raises(ProvisioningError):
        stack.update(wanted)
    assert ": capacity" in stack.roll_back_update(wanted, before).data["Shortage"]


def test_an_update_that_finds_the_cluster_busy_all_the_time_fails(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    stack.create({**CLASSIC, "WaitFor": "accepted"})
    larger = properties(group("workers", 2), NodeProvisioningMode=None)
    with raises(ProvisioningError):
        stack.update({**larger, "WaitMinutes": "5"})


def test_a_request_that_another_version_of_the_function_began_changes_nothing_twice(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create({**ONE, **NODES})
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    waiter = stack.begin("Update", properties(group("workers", 3)), ONE)
    sagemaker.calls.clear()
    time.sleep(900)
    for key in (BEGUN_AT, OPERATION):
        del waiter.event[key]
    stack.table.items = {}
    assert (waiter.poll().complete, sagemaker.writes) == (True, [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WaitFor", "nothing"),
        ("WaitMinutes", "56"),
        ("WaitMinutes", "0"),
        ("OnShortage", ""),
        ("OnCreateFailure", "ignore"),
    ],
)
def test_properties_are_checked(
    stack: HyperPodStack, name: str, value: str, raises: Raises
) -> None:
    with raises(ProvisioningError):
        stack.create({**ONE, name: value})
