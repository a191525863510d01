"""``Custom::HyperPodCluster`` through the framework's eyes, against the rehearsal's HyperPod."""

import json
from typing import Any

import pytest

from provisioner.errors import ProvisioningError
from provisioner.hyperpod_cluster import HyperPodCluster
from provisioner.owner import STACK_TAG
from rehearsal.hyperpod_api import Caller, Faults, HyperPodService, Timings
from tests.handlers.cloudformation import OTHER_STACK_ID, STACK_ID, Framework, Time
from tests.handlers.local_sagemaker import LocalSageMaker

ROLE = "arn:aws:iam::111122223333:role/execution"
TIMINGS = Timings(create=100, update=60, delete=60)


def group(name: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceCount": count,
        "InstanceType": "ml.m5.2xlarge",
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-b", "OnCreate": "on_create.sh"},
        **more,
    }


def properties(*groups: dict[str, Any], name: str = "ml-cluster", **more: Any) -> dict[str, Any]:
    request = {
        "ClusterName": name,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-1"]},
        "InstanceGroups": list(groups),
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "Tags": [{"Key": "team", "Value": "research"}],
        **more,
    }
    request = {key: value for key, value in request.items() if value is not None}
    return {"ClusterName": name, "Request": json.dumps(request)}


ONE = properties(group("workers"))
CLASSIC = properties(group("workers"), NodeProvisioningMode=None)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sagemaker(time: Time) -> LocalSageMaker:
    return LocalSageMaker(service=HyperPodService(clock=lambda: time.now, timings=TIMINGS))


@pytest.fixture
def stack(sagemaker: LocalSageMaker, time: Time) -> Framework:
    return _stack(sagemaker, time)


def _stack(sagemaker: LocalSageMaker, time: Time, **options: Any) -> Framework:
    return Framework(
        resource=HyperPodCluster(sagemaker=sagemaker),
        resource_type="Custom::HyperPodCluster",
        time=time,
        **options,
    )


def _describe(sagemaker: LocalSageMaker, name: str = "ml-cluster") -> dict[str, Any]:
    return sagemaker.service.call("DescribeCluster", {"ClusterName": name}, Caller())


def _tags(sagemaker: LocalSageMaker) -> dict[str, str]:
    arn = _describe(sagemaker)["ClusterArn"]
    listed = sagemaker.service.call("ListTags", {"ResourceArn": arn}, Caller())["Tags"]
    return {tag["Key"]: tag["Value"] for tag in listed}


def test_create_waits_and_answers_every_attribute(
    stack: Framework, sagemaker: LocalSageMaker, time: Time
) -> None:
    started = time.now
    progress = stack.create(ONE)
    assert stack.physical_id == "ml-cluster"
    assert time.now - started >= TIMINGS.create
    assert progress.data == {
        "ClusterName": "ml-cluster",
        "ClusterArn": _describe(sagemaker)["ClusterArn"],
        "ClusterStatus": "InService",
    }
    assert sagemaker.writes == ["CreateCluster"]


def test_cluster_carries_the_users_tags_and_the_owners(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    assert _tags(sagemaker) == {
        "team": "research",
        STACK_TAG: STACK_ID,
        "hyperpod-cdk:logical-id": "Resource",
    }


def test_retried_create_adopts_its_own_cluster(stack: Framework) -> None:
    stack.create(ONE)
    _, accepted = stack.start("Create", ONE)
    assert accepted.physical_id == "ml-cluster"
    assert accepted.failure is None


def test_cluster_of_another_stack_is_refused(sagemaker: LocalSageMaker, time: Time) -> None:
    _stack(sagemaker, time, stack_id=OTHER_STACK_ID).create(ONE)
    with pytest.raises(ProvisioningError, match="belongs to the resource Resource of the stack"):
        _stack(sagemaker, time).create(ONE)


def test_role_that_iam_has_not_spread_yet_is_waited_for(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=4)
    assert stack.create(ONE).complete
    assert sagemaker.writes == ["CreateCluster"] * 5


def test_role_that_never_works_is_reported_in_time(
    stack: Framework, sagemaker: LocalSageMaker, time: Time
) -> None:
    sagemaker.service.faults = Faults(role_not_propagated_calls=1000)
    with pytest.raises(ProvisioningError, match="Could not assume role"):
        stack.create(ONE)
    assert sum(time.slept) <= 120


def test_update_without_a_change_makes_no_call(stack: Framework, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    sagemaker.calls.clear()
    assert stack.update(ONE).data["ClusterStatus"] == "InService"
    assert [operation for operation, _ in sagemaker.calls] == ["DescribeCluster"]


def test_update_changes_groups_recovery_and_tags(
    stack: Framework, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(properties(group("workers"), group("old")))
    stack.update(
        properties(
            group("workers", 3),
            group("new"),
            NodeRecovery="None",
            Tags=[{"Key": "cost", "Value": "42"}],
        )
    )
    time.sleep(300)  # in Continuous mode a group may outlive the update
    described = _describe(sagemaker)
    counts = {
        made["InstanceGroupName"]: made["TargetCount"] for made in described["InstanceGroups"]
    }
    assert counts == {"workers": 3, "new": 1}
    assert described["NodeRecovery"] == "None"
    tags = _tags(sagemaker)
    assert tags["cost"] == "42"
    assert "team" not in tags
    assert STACK_TAG in tags


def test_unchanged_groups_are_not_sent(stack: Framework, sagemaker: LocalSageMaker) -> None:
    stack.create(properties(group("workers"), group("autoscaled", 1)))
    stack.update(properties(group("workers", 2), group("autoscaled", 1)))
    sent = sagemaker.last("UpdateCluster")["InstanceGroups"]
    assert [item["InstanceGroupName"] for item in sent] == ["workers"]


def test_update_of_a_busy_cluster_is_made_later_and_once(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    stack.create(CLASSIC)
    stack.update(properties(group("workers", 2), NodeProvisioningMode=None))
    sagemaker.service.call(  # somebody else's change is still under way
        "UpdateCluster",
        {"ClusterName": "ml-cluster", "InstanceGroups": [group("workers", 3)]},
        Caller(),
    )
    sagemaker.calls.clear()
    stack.update(properties(group("workers", 4), NodeProvisioningMode=None))
    assert _describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 4
    assert sagemaker.writes == ["UpdateCluster", "UpdateCluster", "AddTags"]


def test_immutable_change_is_refused_and_rolled_back_without_a_call(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    moved = properties(
        group("workers"),
        group("more"),
        VpcConfig={"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-9"]},
    )
    original = stack.properties
    with pytest.raises(ProvisioningError, match=r"VpcConfig .* cannot change .* another name"):
        stack.update(moved)
    stack.properties = moved  # CloudFormation's rollback names what was refused as the old one
    sagemaker.calls.clear()
    assert stack.update(original).complete
    assert sagemaker.writes == []


def test_other_name_is_a_replacement(stack: Framework, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    stack.update(properties(group("workers"), name="another"))
    assert stack.physical_id == "another"
    assert _describe(sagemaker, "another")["ClusterStatus"] == "InService"


def test_delete_waits_until_the_cluster_is_gone(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    assert stack.delete().data == {}
    assert sagemaker.writes == ["CreateCluster", "DeleteCluster"]


def test_delete_when_gone(stack: Framework, sagemaker: LocalSageMaker, time: Time) -> None:
    stack.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    assert stack.delete().complete
    assert sagemaker.writes == ["CreateCluster"]


def test_delete_while_busy_is_made_later(stack: Framework, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    sagemaker.service.faults = Faults(delete_conflicts=3)
    assert stack.delete().complete
    assert sagemaker.writes == ["CreateCluster"] + ["DeleteCluster"] * 4


def test_delete_during_create(stack: Framework) -> None:
    stack.requests += 1
    _, accepted = stack.start("Create", CLASSIC)
    stack.physical_id, stack.properties = accepted.physical_id, CLASSIC
    assert stack.delete().complete


def test_delete_leaves_the_cluster_of_another_stack(sagemaker: LocalSageMaker, time: Time) -> None:
    ours, theirs = _stack(sagemaker, time), _stack(sagemaker, time, stack_id=OTHER_STACK_ID)
    ours.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    theirs.create(ONE)
    assert ours.delete().complete
    assert _describe(sagemaker)["ClusterStatus"] == "InService"


def test_delete_of_a_cluster_without_tags_is_refused_not_forgotten(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    arn = _describe(sagemaker)["ClusterArn"]
    sagemaker.service.call("DeleteTags", {"ResourceArn": arn, "TagKeys": [STACK_TAG]}, Caller())
    with pytest.raises(ProvisioningError, match="lost the tags"):
        stack.delete()


def test_failed_create_names_cause_group_and_next_step(
    stack: Framework, sagemaker: LocalSageMaker
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
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(create_failure="The EKS access entry is missing.")
    with pytest.raises(ProvisioningError, match="access entry is missing"):
        stack.create(ONE)
    assert sagemaker.last("ListClusterEvents")["SortOrder"] == "Descending"


def test_continuous_cluster_in_service_is_enough(
    stack: Framework, sagemaker: LocalSageMaker
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    assert stack.create(ONE).complete


def test_throttled_calls_are_repeated(stack: Framework, sagemaker: LocalSageMaker) -> None:
    sagemaker.service.faults = Faults(throttled_calls={"CreateCluster": 3})
    assert stack.create(ONE).complete


def test_quota_is_reported_at_once(stack: Framework, sagemaker: LocalSageMaker) -> None:
    sagemaker.service.faults = Faults(quotas={"ml.m5.2xlarge": 0})
    with pytest.raises(ProvisioningError, match="ResourceLimitExceeded"):
        stack.create(ONE)


def test_update_of_a_cluster_deleted_outside_says_so(
    stack: Framework, sagemaker: LocalSageMaker, time: Time
) -> None:
    stack.create(ONE)
    sagemaker.service.call("DeleteCluster", {"ClusterName": "ml-cluster"}, Caller())
    time.sleep(TIMINGS.delete + 60)
    with pytest.raises(ProvisioningError, match="does not exist any more"):
        stack.update(properties(group("workers", 2)))


def test_names_that_differ_are_refused(stack: Framework) -> None:
    with pytest.raises(ProvisioningError, match=r"Request\.ClusterName is ml-cluster"):
        stack.create({**ONE, "ClusterName": "other"})
