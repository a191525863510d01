"""``Custom::HyperPodCluster`` through the framework's eyes, against the rehearsal's HyperPod."""

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import STACK_TAG
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID, Time
from tests.support.provisioner.hyperpod_stack import (
    ANOTHER_EKS_CLUSTER,
    LEFT_OUT_GROUPS,
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

pytestmark = LEFT_OUT_GROUPS


def test_create_waits_and_answers_every_attribute(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    started = time.now
    progress = stack.create(ONE)
    assert stack.physical_id == "ml-cluster"
    assert time.now - started >= TIMINGS.create
    assert progress.data == {
        "ClusterName": "ml-cluster",
        "ClusterArn": describe(sagemaker)["ClusterArn"],
        "ClusterStatus": "InService",
        "Shortage": "none",
    }
    assert sagemaker.writes == ["CreateCluster"]


def test_cluster_carries_the_users_tags_and_the_owners(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    stack.update(properties(group("workers", 2)))
    assert tags_of_cluster(sagemaker) == {
        "team": "research",
        STACK_TAG: STACK_ID,
        "hyperpod-cdk:logical-id": "Resource",
    }


def test_nodes_left_in_kubernetes_go_when_the_cluster_is_gone(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    stack.update(properties(group("workers", 2)))
    assert stack.swept == []
    stack.delete()
    assert stack.swept == ["ml-cluster"]
    stack.delete()  # again, of one that is gone
    assert stack.swept == ["ml-cluster", "ml-cluster"]
    assert sagemaker.service.call("ListClusters", {}, Caller())["ClusterSummaries"] == []


def test_nodes_of_a_cluster_that_is_left_alone_stay(sagemaker: LocalSageMaker, time: Time) -> None:
    hyperpod_stack(sagemaker, time, stack_id=OTHER_STACK_ID).create(ONE)
    ours = hyperpod_stack(sagemaker, time, physical_id="ml-cluster", properties=dict(ONE))
    assert ours.delete().complete
    assert ours.swept == []


def test_role_that_iam_has_not_spread_yet_is_waited_for(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=4)
    assert stack.create(ONE).complete
    assert sagemaker.writes == ["CreateCluster"] * 5


def test_role_that_never_works_is_reported_in_time(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=1000)
    with raises(ProvisioningError):
        stack.create(ONE)
    assert sum(time.slept) <= 120


def test_immutable_change_is_refused_and_rolled_back_at_once_without_a_call(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(ONE)
    moved = properties(
        group("workers"),
        group("more"),
        VpcConfig={"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-9"]},
    )
    original = stack.properties
    with raises(ProvisioningError):
        stack.update(moved)
    sagemaker.calls.clear()
    refused_at = time.now
    assert stack.roll_back_update(moved, original).complete
    assert sagemaker.writes == []
    assert time.now < refused_at + 60


def test_other_name_on_another_eks_cluster_is_a_replacement(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    stack.update(properties(group("workers"), name="another", **ANOTHER_EKS_CLUSTER))
    assert stack.physical_id == "another"
    assert describe(sagemaker, "another")["ClusterStatus"] == "InService"


def test_other_name_on_the_same_eks_cluster_is_refused(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(ONE)
    sagemaker.calls.clear()
    with raises(ProvisioningError):
        stack.update(properties(group("workers"), name="another"))
    assert (stack.physical_id, sagemaker.writes) == ("ml-cluster", [])
