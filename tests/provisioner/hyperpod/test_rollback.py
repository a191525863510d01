"""The Update that takes back a failed one changes only what had come true, and does not fail."""

from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    ANOTHER_EKS_CLUSTER,
    CLASSIC,
    LEFT_OUT_GROUPS,
    ONE,
    TIMINGS,
    HyperPodStack,
    describe,
    group,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

SHORT = Faults(capacity_shortage=frozenset({"workers"}))
RENAMED = properties(group("workers"), name="another", **ANOTHER_EKS_CLUSTER)
pytestmark = LEFT_OUT_GROUPS


def scale_outside(sagemaker: LocalSageMaker, time: Time, *, by: int) -> None:
    nodes = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": by}]
    request = {"ClusterName": "ml-cluster", "NodesToAdd": nodes}
    sagemaker.service.call("BatchAddClusterNodes", request, Caller())
    time.sleep(600)


def delete_outside(sagemaker: LocalSageMaker, time: Time | None = None) -> None:
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    if time is not None:
        time.sleep(TIMINGS.delete + 60)


def target_count(sagemaker: LocalSageMaker) -> int:
    count: int = describe(sagemaker)["InstanceGroups"][0]["TargetCount"]
    return count


def test_new_name_is_taken_back_without_a_call(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(ONE)
    scale_outside(sagemaker, time, by=4)
    stack.update(RENAMED)
    sagemaker.calls.clear()

    progress = stack.roll_back_update(RENAMED, ONE)
    assert (progress.data["ClusterName"], stack.physical_id) == ("ml-cluster", "ml-cluster")
    assert (sagemaker.writes, target_count(sagemaker)) == ([], 5)


def test_new_name_is_taken_back_though_the_former_cluster_is_gone(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(ONE)
    delete_outside(sagemaker, time)
    stack.update(RENAMED)
    sagemaker.calls.clear()

    assert stack.roll_back_update(RENAMED, ONE).data["ClusterStatus"] == "Deleted"
    assert sagemaker.writes == []


def test_busy_cluster_does_not_fail_it(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    before = {**CLASSIC, "WaitMinutes": "5", "OnShortage": "fail"}
    stack.create(before)
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    wanted = {
        **before,
        "Request": properties(group("workers", 3), NodeProvisioningMode=None)["Request"],
    }
    with raises(ProvisioningError):
        stack.update(wanted)

    assert "the cluster is Updating" in stack.roll_back_update(wanted, before).data["Shortage"]


def test_failed_cluster_does_not_fail_it(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    sagemaker.service.faults = SHORT
    before = {**CLASSIC, "WaitFor": "accepted"}
    stack.create(before)
    time.sleep(600)
    with raises(ProvisioningError):
        stack.update(CLASSIC)

    progress = stack.roll_back_update(CLASSIC, before)
    assert progress.data["ClusterStatus"] == "Failed"
    assert "capacity" in progress.data["Shortage"]


@pytest.mark.parametrize(
    "wanted",
    [properties(group("workers"), Tags=[{"Key": "a", "Value": "b"}]), {**ONE, "WaitMinutes": "30"}],
    ids=["tags", "no call"],
)
def test_cluster_that_somebody_deletes_is_waited_for(
    wanted: dict[str, Any], stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    delete_outside(sagemaker)
    assert stack.update(wanted).data["ClusterStatus"] == "InService"

    delete_outside(sagemaker)
    assert stack.roll_back_update(wanted, ONE).data["ClusterStatus"] == "Deleted"


def test_properties_that_were_refused_are_not_read_again(stack: HyperPodStack) -> None:
    stack.create(ONE)
    for wanted in ({**ONE, "WaitMinutes": "99"}, {**ONE, "Request": "{"}):
        with pytest.raises(ProvisioningError):
            stack.update(wanted)
        assert stack.roll_back_update(wanted, ONE).complete


def test_creation_anew_that_failed_is_kept(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(CLASSIC)
    delete_outside(sagemaker, time)
    sagemaker.service.faults = SHORT
    wanted = properties(group("workers", 2), NodeProvisioningMode=None)
    with raises(ProvisioningError):
        stack.update(wanted)

    assert stack.roll_back_update(wanted, CLASSIC).data["ClusterStatus"] == "Failed"
