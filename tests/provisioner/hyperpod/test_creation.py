"""What becomes of a HyperPod cluster whose creation failed, on every path CloudFormation takes."""

import json
from typing import Literal

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults, HyperPodService, Timings, Unknowns
from hyperpod_emulator.kubernetes import InProcessControlPlane
from hyperpod_emulator.testing.hyperpod_api import TYPE, create_plan
from hyperpod_rehearsal.environment import KubernetesNodes
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import STACK_ID, Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    ANOTHER_EKS_CLUSTER,
    CLASSIC,
    ONE,
    TIMINGS,
    HyperPodStack,
    conflict,
    describe,
    group,
    hyperpod_stack,
    properties,
    throttling,
    troubled_sagemaker,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

AGAIN_STACK_ID = STACK_ID.rpartition("/")[0] + "/another-id-of-the-same-name"
SHORT = Faults(capacity_shortage=frozenset({"workers"}))
LATE = {**ONE, "WaitFor": "nodes", "WaitMinutes": "5", "OnShortage": "fail"}
DELETE = {"OnCreateFailure": "delete"}


def fail(stack: HyperPodStack, sagemaker: LocalSageMaker, wanted: dict[str, str]) -> None:
    sagemaker.service.faults = SHORT
    with pytest.raises(ProvisioningError, match="sufficient capacity"):
        stack.create(wanted)
    sagemaker.service.faults = Faults()


def again(stack: HyperPodStack, *, stack_id: str = STACK_ID) -> HyperPodStack:
    """Return the stack as it creates the cluster once more; one with another id has no notes."""
    same = {"table": stack.table} if stack_id == STACK_ID else {}
    sagemaker = stack.resource.sagemaker  # type: ignore[attr-defined]
    return hyperpod_stack(sagemaker, stack.time, stack_id=stack_id, requests=7, **same)


def exists(sagemaker: LocalSageMaker) -> bool:
    listed = sagemaker.service.call("ListClusters", {}, Caller())["ClusterSummaries"]
    return any(cluster["ClusterStatus"] != "Deleting" for cluster in listed)


@pytest.mark.parametrize("wanted", [CLASSIC, LATE], ids=["failed", "late"])
def test_rollback_of_the_creation_keeps_it_and_says_so(
    stack: HyperPodStack, sagemaker: LocalSageMaker, wanted: dict[str, str], raises: Raises
) -> None:
    fail(stack, sagemaker, wanted)
    with raises(ProvisioningError):
        stack.roll_back_creation(wanted)
    assert exists(sagemaker)
    assert "DeleteCluster" not in sagemaker.writes


def test_nodes_of_a_kept_cluster_are_said_to_be_billed(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    both = properties(group("workers"), group("others", 2))
    wanted = {**both, "WaitFor": "nodes", "WaitMinutes": "5", "OnShortage": "fail"}
    fail(stack, sagemaker, wanted)
    with raises(ProvisioningError):
        stack.roll_back_creation(wanted)


@pytest.mark.parametrize("wanted", [CLASSIC, LATE], ids=["failed", "late"])
def test_rollback_deletes_it_if_asked_to(
    stack: HyperPodStack, sagemaker: LocalSageMaker, wanted: dict[str, str]
) -> None:
    fail(stack, sagemaker, {**wanted, **DELETE})
    assert stack.roll_back_creation({**wanted, **DELETE}).complete
    assert not exists(sagemaker)


def test_every_try_of_an_updates_cleanup_leaves_it(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    fail(stack, sagemaker, CLASSIC)
    for _ in range(3):
        stack.cloudformation.status = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"
        with raises(ProvisioningError):
            stack.start("Delete", CLASSIC)
    assert exists(sagemaker)


@pytest.mark.parametrize("stack_id", [STACK_ID, AGAIN_STACK_ID], ids=["same stack", "created anew"])
def test_next_create_replaces_a_failed_one(
    stack: HyperPodStack, sagemaker: LocalSageMaker, stack_id: str
) -> None:
    fail(stack, sagemaker, CLASSIC)
    old, anew = describe(sagemaker)["ClusterArn"], again(stack, stack_id=stack_id)
    assert anew.create(CLASSIC).data["ClusterArn"] != old
    assert sagemaker.writes[-3:] == ["CreateCluster", "DeleteCluster", "CreateCluster"]
    assert anew.delete().complete


def test_next_create_adopts_a_late_one_as_it_wants_it(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    fail(stack, sagemaker, LATE)
    old, anew = describe(sagemaker)["ClusterArn"], again(stack)
    wanted = properties(group("others", 2), NodeRecovery="None")
    assert anew.create({**wanted, "WaitFor": "nodes"}).data["ClusterArn"] == old
    time.sleep(300)
    described = describe(sagemaker)
    assert [item["InstanceGroupName"] for item in described["InstanceGroups"]] == ["others"]
    assert described["NodeRecovery"] == "None"
    assert "DeleteCluster" not in sagemaker.writes
    assert anew.delete().complete


def test_a_stack_without_notes_adopts_a_late_one_with_its_groups(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    """They may be in use by now."""
    fail(stack, sagemaker, LATE)
    again(stack, stack_id=AGAIN_STACK_ID).create(properties(group("others", 2), Tags=[]))
    groups = {item["InstanceGroupName"] for item in describe(sagemaker)["InstanceGroups"]}
    assert groups == {"others", "workers"}
    assert {"AddTags", "DeleteTags"} <= {name for name, _ in sagemaker.calls}
    assert "DeleteCluster" not in sagemaker.writes


def test_next_create_replaces_a_late_one_that_cannot_be_made_the_wanted_one(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    fail(stack, sagemaker, LATE)
    old = describe(sagemaker)["ClusterArn"]
    vpc = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-9"]}
    assert (
        again(stack).create(properties(group("workers"), VpcConfig=vpc)).data["ClusterArn"] != old
    )
    assert describe(sagemaker)["VpcConfig"] == vpc


def test_next_create_replaces_a_late_one_with_another_ami(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    ami = "ami-0123456789abcdef0"
    fail(stack, sagemaker, LATE)
    again(stack).create(properties(group("workers", ImageId=ami)))
    assert describe(sagemaker)["InstanceGroups"][0]["CurrentImageId"] == ami


def test_next_create_refuses_to_replace_one_that_worked(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(ONE)
    vpc = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-9"]}
    with raises(ProvisioningError):
        again(stack, stack_id=AGAIN_STACK_ID).create(properties(group("workers"), VpcConfig=vpc))
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_next_create_waits_for_one_that_is_still_being_made_or_deleted(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.start("Create", CLASSIC)
    stack.requests = 7
    assert stack.create(CLASSIC).complete
    assert sagemaker.writes == ["CreateCluster"]
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    stack.requests = 9
    assert stack.create(CLASSIC).complete
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_a_cluster_that_blocks_the_next_create_for_too_long_is_named(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
    stack.start("Create", CLASSIC)
    stack.requests = 7
    larger = properties(group("workers", 2), NodeProvisioningMode=None)
    with raises(ProvisioningError):
        stack.create({**larger, "WaitMinutes": "5"})


def test_nothing_is_created_for_a_stack_that_is_being_deleted(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    fail(stack, sagemaker, CLASSIC)
    stack.requests = 7
    waiter = stack.start("Create", CLASSIC)
    assert describe(sagemaker)["ClusterStatus"] == "Deleting"
    time.sleep(TIMINGS.delete + 60)
    stack.cloudformation.status = "DELETE_IN_PROGRESS"
    with raises(ProvisioningError):
        waiter.poll()
    assert not exists(sagemaker)


def test_a_replacement_that_fails_leaves_the_old_cluster_and_is_kept(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(CLASSIC)
    one = group("workers")
    renamed = properties(one, name="another", NodeProvisioningMode=None, **ANOTHER_EKS_CLUSTER)
    sagemaker.service.faults = SHORT
    with raises(ProvisioningError):
        stack.update(renamed)
    stack.cloudformation.status = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"
    with raises(ProvisioningError):
        stack.start("Delete", renamed)
    assert describe(sagemaker)["ClusterStatus"] == "InService"


@pytest.mark.parametrize("code", ["ValidationException", "ResourceInUse"])
def test_the_cluster_that_uses_the_eks_cluster_is_named(
    time: Time, code: Literal["ValidationException", "ResourceInUse"], raises: Raises
) -> None:
    service = HyperPodService(clock=lambda: time.now, unknowns=Unknowns(second_cluster=code))
    theirs = properties(group("workers"), name="theirs")
    service.call("CreateCluster", json.loads(theirs["Request"]), Caller())
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    with raises(ProvisioningError):
        stack.create(ONE)


@pytest.mark.parametrize("code", ["ValidationException", "ResourceNotFound"])
def test_a_cluster_lives_however_it_is_said_not_to_exist(
    time: Time, code: Literal["ValidationException", "ResourceNotFound"]
) -> None:
    service = HyperPodService(clock=lambda: time.now, unknowns=Unknowns(unknown_cluster=code))
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    assert stack.create(ONE).data["ClusterStatus"] == "InService"
    assert stack.delete().complete
    assert stack.swept == ["ml-cluster"]


def test_missing_dependencies_are_named(time: Time, raises: Raises) -> None:
    kubernetes = InProcessControlPlane(kubernetes_version="1.34")
    service = HyperPodService(clock=lambda: time.now, observer=KubernetesNodes(kubernetes))
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    with raises(ProvisioningError):
        stack.create(ONE)

    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}}
    kubernetes.create(namespace)
    assert stack.create(ONE).data["ClusterStatus"] == "InService"


def test_a_plan_that_cannot_be_used_is_named_with_what_to_check(time: Time, raises: Raises) -> None:
    service = HyperPodService(clock=lambda: time.now, timings=Timings(payment=3600))
    plan = create_plan(service)
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    reserved = properties(group("workers", InstanceType=TYPE, TrainingPlanArn=plan))
    with raises(ProvisioningError):
        stack.create(reserved)

    time.sleep(3600)
    assert stack.create(reserved).data["Shortage"] == "none"


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
    assert describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 2


@pytest.fixture
def stack(sagemaker: LocalSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time, physical_id="ml-cluster", properties=ONE)


def test_a_rollback_waits_for_a_creation_that_it_does_not_see(time: Time) -> None:
    sagemaker = troubled_sagemaker(time)
    stack = hyperpod_stack(sagemaker, time, physical_id="ml-cluster")
    stack.begin("Create", ONE)
    until = time.now + 60
    unseen = client_error("ResourceNotFound", "DescribeCluster")
    sagemaker.refuse("DescribeCluster", unseen, when=lambda: time.now < until)
    assert stack.roll_back_creation(ONE).complete
    assert not exists(sagemaker)


def test_a_creation_that_is_rolled_back_makes_no_call_any_more(time: Time, raises: Raises) -> None:
    sagemaker = troubled_sagemaker(time)
    stack = hyperpod_stack(sagemaker, time, physical_id="ml-cluster")
    sagemaker.refuse("CreateCluster", conflict("The EKS cluster eks is CREATING"))
    waiter = stack.begin("Create", ONE)
    assert stack.roll_back_creation(ONE).complete
    sagemaker.refuse("", AssertionError())
    time.sleep(120)
    with raises(ProvisioningError):
        waiter.poll()
    assert not exists(sagemaker)


def test_a_delete_of_nothing_that_may_not_ask_for_the_stack_succeeds(stack: HyperPodStack) -> None:
    stack.cloudformation.error = client_error("AccessDenied", "DescribeStacks")
    assert stack.begin("Delete", ONE).poll().complete


@pytest.mark.parametrize("there", [True, False])
def test_other_deletes_end_at_once(stack: HyperPodStack, time: Time, *, there: bool) -> None:
    if there:
        stack.create(ONE)
        time.sleep(600)
    stack.cloudformation.status = "ROLLBACK_IN_PROGRESS" if there else "DELETE_IN_PROGRESS"
    waiter = stack.begin("Delete", ONE)
    time.sleep(90 if there else 0)
    assert waiter.poll().complete


def test_a_deletion_that_was_not_called_for_has_not_failed(time: Time) -> None:
    """SageMaker throttles it for longer than the function retries."""
    sagemaker = troubled_sagemaker(time)
    stack = hyperpod_stack(sagemaker, time, physical_id="ml-cluster", properties=CLASSIC)
    fail(stack, sagemaker, CLASSIC)
    sagemaker.refuse("DeleteCluster", throttling())
    stack.cloudformation.status = "DELETE_IN_PROGRESS"
    waiter = stack.begin("Delete", CLASSIC)
    time.sleep(300)
    waiter.poll()
    sagemaker.refuse("", AssertionError())
    while not waiter.poll().complete:
        time.sleep(30)
    assert not exists(sagemaker)
