"""How a HyperPod cluster ends: deletion, failure, disappearance, and what it leaves behind."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_emulator.kubernetes import Fault
from hyperpod_shared.eks_token import TokenSigner
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import STACK_TAG
from provisioner.framework.retry import Clock
from provisioner.kubernetes.cluster import EksConnection, delete_node_objects
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.helm_cloud import Cloud
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
    ONE,
    HyperPodStack,
    describe,
    group,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

EKS = {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}
CLUSTER: dict[str, Any] = {"ClusterName": "ml-cluster", "Orchestrator": {"Eks": EKS}}
LABEL = "sagemaker.amazonaws.com/cluster-name"


def test_delete_of_a_cluster_without_tags_is_refused_not_forgotten(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    """The journal knows the stack's cluster; its tags are the only other sign of it."""
    stack.create(ONE)
    arn = describe(sagemaker)["ClusterArn"]
    sagemaker.service.call("DeleteTags", {"ResourceArn": arn, "TagKeys": [STACK_TAG]}, Caller())
    items, stack.table.items = stack.table.items, None
    with raises(ProvisioningError):
        stack.delete()
    stack.table.items = items
    assert stack.delete().complete


def test_failed_create_names_cause_group_and_next_step(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    with raises(ProvisioningError) as failed:
        stack.create(CLASSIC)
    text = str(failed.value)
    assert len(text) < 1000
    assert stack.physical_id == "ml-cluster"
    assert stack.delete().complete


def test_calls_that_are_always_throttled_end_in_time(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    waiter = stack.start("Create", CLASSIC)
    sagemaker.service.faults = Faults(throttled_calls={"DescribeCluster": 1_000_000})
    time.sleep(57 * 60)
    assert not waiter.poll().complete
    time.sleep(60)
    with raises(ProvisioningError):
        waiter.poll()


def test_names_that_differ_are_refused(stack: HyperPodStack, raises: Raises) -> None:
    with raises(ProvisioningError):
        stack.create({**ONE, "ClusterName": "other"})


def test_update_that_was_rolled_back_between_two_polls_is_a_failure(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(CLASSIC)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    larger = properties(group("workers", 3), NodeProvisioningMode=None)
    stack.requests += 1
    waiter = stack.start("Update", larger, stack.properties)
    time.sleep(3600)
    assert describe(sagemaker)["ClusterStatus"] == "InService"
    with raises(ProvisioningError):
        waiter.poll()


def test_update_that_is_rolled_back_is_a_failure_and_the_rollback_succeeds(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(CLASSIC)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    before = stack.properties
    larger = properties(group("workers", 3), NodeProvisioningMode=None)
    with raises(ProvisioningError):
        stack.update(larger)
    assert stack.roll_back_update(larger, before).complete
    assert describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 1


def govern(sagemaker: LocalSageMaker) -> None:
    arn = describe(sagemaker)["ClusterArn"]
    quota = {
        "Name": "research-quota",
        "ClusterArn": arn,
        "ComputeQuotaConfig": {},
        "ComputeQuotaTarget": {"TeamName": "research"},
    }
    policy = {"Name": "fair", "ClusterArn": arn, "SchedulerConfig": {}}
    sagemaker.service.call("CreateComputeQuota", quota, Caller())
    sagemaker.service.call("CreateClusterSchedulerConfig", policy, Caller())


def test_it_is_named_and_left_to_the_user(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(ONE)
    govern(sagemaker)
    with raises(ProvisioningError):
        stack.delete()
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_a_property_of_earlier_versions_means_nothing(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create({**ONE, "DeleteTaskGovernance": "true"})
    govern(sagemaker)
    with raises(ProvisioningError):
        stack.delete()
    left = sagemaker.service.call("ListComputeQuotas", {}, Caller())["ComputeQuotaSummaries"]
    assert len(left) == 1


@pytest.fixture
def nodes(cloud: Cloud) -> Cloud:
    """Return a cloud with a node of this cluster, one of another, and one of none."""
    for name, labels in {
        "hyperpod-i-1": {LABEL: "ml-cluster"},
        "hyperpod-i-2": {LABEL: "another"},
        "other": {},
    }.items():
        cloud.api.put_node(name, instance_type="ml.m5.2xlarge", labels=labels)
    return cloud


def _delete(cloud: Cloud, cluster: dict[str, Any]) -> list[str]:
    connection = EksConnection(eks=cloud.eks, token_signer=cast("TokenSigner", cloud))
    delete_node_objects(cluster, Clock(remaining=lambda: 0.0), connection=lambda: connection)
    return cloud.names("v1", "Node")


def test_only_nodes_of_the_cluster_are_deleted(nodes: Cloud) -> None:
    assert _delete(nodes, CLUSTER) == ["hyperpod-i-2", "other"]
    assert _delete(nodes, CLUSTER) == ["hyperpod-i-2", "other"]


@pytest.mark.parametrize("orchestrator", [{}, {"Orchestrator": {"Slurm": {}}}])
def test_a_cluster_without_kubernetes_has_none(nodes: Cloud, orchestrator: dict[str, Any]) -> None:
    nodes.exists = False
    assert len(_delete(nodes, {"ClusterName": "ml-cluster", **orchestrator})) == 3


def _gone(cloud: Cloud) -> None:
    cloud.exists = False


def _deleting(cloud: Cloud) -> None:
    cloud.eks_status = "DELETING"


def _refusing(cloud: Cloud) -> None:
    cloud.api.inject(
        Fault(code=403, reason="Forbidden", message="no", verbs=frozenset({"list"}), times=None)
    )


@pytest.mark.parametrize("trouble", [_gone, _deleting, _refusing])
def test_what_cannot_be_reached_hinders_no_deletion(
    nodes: Cloud, trouble: Callable[[Cloud], None]
) -> None:
    trouble(nodes)
    assert len(_delete(nodes, CLUSTER)) == 3
