"""Updates of several calls: one after the other, each once, wherever they are interrupted."""

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    LEFT_OUT_GROUPS,
    HyperPodStack,
    describe,
    group,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

AMI = "ami-0123456789abcdef0"
SOFTWARE = "UpdateClusterSoftware"
TWO = properties(group("workers"), group("others"))
pytestmark = LEFT_OUT_GROUPS


@pytest.fixture
def stack(stack: HyperPodStack, sagemaker: LocalSageMaker) -> HyperPodStack:
    stack.create(TWO)
    sagemaker.calls.clear()
    return stack


def images(sagemaker: LocalSageMaker) -> dict[str, str]:
    return {
        item["InstanceGroupName"]: item["CurrentImageId"]
        for item in describe(sagemaker)["InstanceGroups"]
    }


def test_amis_change_after_the_cluster(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    before = images(sagemaker)
    stack.update(properties(group("workers", 2, ImageId=AMI), group("others")))
    assert [name for name in sagemaker.writes if name != "AddTags"] == ["UpdateCluster", SOFTWARE]
    assert images(sagemaker) == {**before, "workers": AMI}
    assert describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 2


def test_the_wish_is_served_once(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    wish = {**TWO, "SoftwareUpdate": "2026-11"}
    stack.update(wish)
    sent = sagemaker.last(SOFTWARE)["InstanceGroups"]
    assert [item["InstanceGroupName"] for item in sent] == ["workers", "others"]
    sagemaker.calls.clear()
    stack.update({**wish, "WaitMinutes": "10"})
    stack.update({**TWO, "SoftwareUpdate": ""})
    assert sagemaker.writes == []
    stack.update({**TWO, "SoftwareUpdate": "2026-12"})
    assert SOFTWARE in sagemaker.writes


def test_rollback_of_a_wish_updates_nothing(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.roll_back_update({**TWO, "SoftwareUpdate": "2026-11"}, TWO)
    assert sagemaker.writes == []


def test_nodes_includes_the_amis(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    stack.update({**TWO, "SoftwareUpdate": "2026-11", "WaitFor": "nodes"})
    statuses = {item["SoftwareUpdateStatus"] for item in describe(sagemaker)["InstanceGroups"]}
    assert statuses == {"Succeeded"}


def test_a_retried_request_changes_nothing_twice(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    wanted = properties(group("workers", 3), group("others", ImageId=AMI))
    stack.requests += 1
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    stack.start("Update", wanted, TWO)
    waiter = stack.start("Update", wanted, TWO)  # Lambda invokes once more
    while not waiter.poll().complete:
        time.sleep(30)
    assert [name for name in sagemaker.writes if name != "AddTags"] == ["UpdateCluster", SOFTWARE]


def test_refused_step_says_so(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(quotas={"ml.m5.2xlarge": 2})
    with raises(ProvisioningError):
        stack.update(properties(group("workers", 2), group("others")))


def test_autoscaled_counts_are_not_fought_over(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    node = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 4}
    sagemaker.service.call(
        "BatchAddClusterNodes", {"ClusterName": "ml-cluster", "NodesToAdd": [node]}, Caller()
    )
    labels = {"Labels": {"team": "research"}}
    stack.update(properties(group("workers", KubernetesConfig=labels), group("others", 2)))
    counts = {
        item["InstanceGroupName"]: item["TargetCount"]
        for item in describe(sagemaker)["InstanceGroups"]
    }
    assert counts == {"workers": 5, "others": 2}
