"""What goes wrong in the HyperPod API when it is asked to, and what AWS does not document."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Faults, Timings, Unknowns
from hyperpod_emulator.testing.hyperpod_api import (
    CONTINUOUS,
    NAME,
    ROLE,
    KnownSubnets,
    Subject,
    create_request,
    eks,
    group,
    subject,
)

NONE = Faults()
SHORTAGE = Faults(capacity_shortage=frozenset({"a"}))
SCRIPT = Faults(lifecycle_script_failure=frozenset({"a"}))
CHECK = Faults(deep_health_check_failure=frozenset({"a"}))
LABELS = {"Labels": {"team": "research"}}
CHECKED: dict[str, Any] = {"OnStartDeepHealthChecks": ["InstanceStress"]}


def described(api: Subject) -> dict[str, Any]:
    return api("DescribeCluster", ClusterName=NAME)


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (SHORTAGE, ["sufficient capacity", "ml.g5.12xlarge"]),
        (SCRIPT, ["Lifecycle scripts did not run successfully", "Instance i-"]),
        (CHECK, ["Deep health checks did not pass", "Instance i-"]),
        (Faults(create_failure="Something broke."), ["Something broke."]),
    ],
)
def test_classic_cluster_fails_as_a_whole(faults: Faults, words: list[str]) -> None:
    api = subject(faults=faults)
    api.create(group("a", **CHECKED), group("b"))
    api.wait()

    cluster = described(api)
    assert cluster["ClusterStatus"] == "Failed"
    for word in words:
        assert word in cluster["FailureMessage"]
    assert api.counts() == {"a": (0, 2), "b": (0, 2)}
    assert api.nodes() == []
    assert cluster["InstanceGroups"][0]["Status"] == "Failed"
    api("DeleteCluster", ClusterName=NAME)


def test_classic_update_is_rolled_back() -> None:
    api = subject()
    api.create(group("a", 1), group("b", 1))
    api.wait()
    before = {node["InstanceId"] for node in api.nodes()}
    api.service.faults = SHORTAGE

    changes = [group("a", 3, KubernetesConfig=LABELS), group("b", 2), group("c", 1)]
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=changes)
    api.wait(Timings().update + Timings().node_launch)
    assert api.status() == "RollingBack"
    api.wait()

    assert (api.status(), api.counts()) == ("InService", {"a": (1, 1), "b": (1, 1)})
    assert "sufficient capacity" in described(api)["FailureMessage"]
    assert "KubernetesConfig" not in described(api)["InstanceGroups"][0]
    assert {node["InstanceId"] for node in api.nodes()} == before


def test_failed_cluster_whose_rollback_fails_too_is_failed() -> None:
    api = subject(faults=SHORTAGE)
    api.create(group("a"), group("b"))
    api.wait()

    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("b", 3)])
    api.wait()

    assert api.status() == "Failed"


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (SHORTAGE, "sufficient capacity"),
        (SCRIPT, "Lifecycle scripts did not run successfully"),
        (CHECK, "Deep health checks did not pass"),
    ],
)
def test_continuous_cluster_retries_until_nodes_arrive(faults: Faults, words: str) -> None:
    api = subject(faults=faults)
    api.create(group("a", **CHECKED), group("b"), **CONTINUOUS)
    api.wait(600)

    assert (api.status(), api.counts()) == ("InService", {"a": (0, 2), "b": (2, 2)})
    assert "FailureMessage" not in described(api)
    errors = [event for event in api.events() if event["EventLevel"] == "Error"]
    assert {event["InstanceGroupName"] for event in errors} == {"a"}
    assert errors[0]["Description"] == (
        f"Instance creation in Cluster {NAME} and InstanceGroup a failed"
    )
    event = api("DescribeClusterEvent", ClusterName=NAME, EventId=errors[0]["EventId"])
    metadata = event["EventDetails"]["EventDetails"]["EventMetadata"]
    assert words in metadata["Instance"]["FailureMessage"]

    # However long it lasted, the next attempt is not far.
    api.service.faults = NONE
    timings = Timings()
    start = timings.node_launch + timings.lifecycle_script + timings.deep_health_check
    api.wait(timings.node_retry_limit + start)
    assert api.counts()["a"] == (2, 2)


def test_lifecycle_script_failure_names_the_log_stream() -> None:
    api = subject(faults=SCRIPT)
    arn = api.create(group("a", 1), **CONTINUOUS)["ClusterArn"]
    api.wait(Timings().create + 1.2)

    (node,) = api.nodes()
    instance = node["InstanceId"]
    assert node["InstanceStatus"]["Status"] == "Failure"
    message = node["InstanceStatus"]["Message"]
    assert f"/aws/sagemaker/Clusters/{NAME}/{arn.rpartition('/')[2]}" in message
    assert f"LifecycleConfig/a/{instance}" in message
    (event,) = api.events(NodeId=instance, MaxResults=1)
    detail = api("DescribeClusterEvent", ClusterName=NAME, EventId=event["EventId"])
    metadata = detail["EventDetails"]["EventDetails"]["EventMetadata"]["Instance"]
    assert metadata["LcsExecutionState"] == "Failed"


def test_minimum_count_that_is_not_reached_rolls_the_group_back() -> None:
    api = subject()
    api.create(group("a", 1), **CONTINUOUS)
    api.wait()
    api.service.faults = SHORTAGE

    wanted = [group("a", 5, MinInstanceCount=3), group("b", 1, MinInstanceCount=1)]
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=wanted)
    api.wait(30)
    assert api.counts() == {"a": (1, 5), "b": (1, 1)}
    api.wait(60)

    assert api.counts() == {"a": (1, 1), "b": (1, 1)}
    messages = [event["Description"] for event in api.events(ResourceType="InstanceGroup")]
    assert "InstanceGroup a did not reach MinInstanceCount" in messages


def test_subnet_without_free_addresses_is_a_failure() -> None:
    api = subject(network=KnownSubnets(cidr="10.1.0.0/28"))
    api.create(group("a", 12))
    api.wait()

    assert api.status() == "Failed"
    assert "not enough free addresses in subnet 'subnet-1'" in described(api)["FailureMessage"]


def test_quota_counts_all_clusters() -> None:
    api = subject(faults=Faults(quotas={"ml.g5.12xlarge": 3}))
    api.create(group(count=2))
    api.wait()

    second = create_request(group(count=2), ClusterName="second", Orchestrator=eks("second"))
    error = api.refused("CreateCluster", **second)
    assert error.code == "ResourceLimitExceeded"
    assert "'ml.g5.12xlarge for cluster usage' is 3 Instances" in error.message
    assert "current utilization of 2 Instances and a request delta of 2" in error.message
    grown = api.refused("UpdateCluster", ClusterName=NAME, InstanceGroups=[group(count=4)])
    assert grown.code == "ResourceLimitExceeded"
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group(count=3)])
    other = group(InstanceType="ml.m5.2xlarge")
    api.create(other, ClusterName="third", Orchestrator=eks("third"))


def test_first_calls_are_throttled_and_again_when_faults_are_replaced() -> None:
    faults = Faults(throttled_calls={"DescribeCluster": 2})
    api = subject(faults=faults)
    api.create()

    for _ in range(2):
        for _ in range(2):
            assert api.refused("DescribeCluster", ClusterName=NAME).code == "ThrottlingException"
        assert api.status() == "Creating"
        api.service.faults = faults


def test_role_is_not_visible_at_first() -> None:
    api = subject(faults=Faults(role_not_propagated_calls=1))

    error = api.refused("CreateCluster", **create_request())
    assert error.code == "ValidationException"
    assert f"Could not assume role {ROLE}" in error.message
    assert api("ListClusters")["ClusterSummaries"] == []
    api.create()


TWO = create_request(group("a"), group("b"), NodeProvisioningMode="Continuous")


def _running(unknowns: Unknowns) -> Subject:
    api = subject(unknowns=unknowns)
    api("CreateCluster", **TWO)
    api.wait()
    return api


def test_left_out_groups_are_kept_or_removed() -> None:
    kept, removed = _running(Unknowns()), _running(Unknowns(left_out_groups="removed"))
    for api in (kept, removed):
        api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 3)])
        api.wait()
    assert kept.counts() == {"a": (3, 3), "b": (2, 2)}
    assert removed.counts() == {"a": (3, 3)}


def test_current_count_has_nodes_that_run_or_all_that_were_launched() -> None:
    counts = {}
    for counted in ("running", "launched"):
        api = subject(unknowns=Unknowns(current_count=counted))
        api("CreateCluster", **create_request(group("a"), NodeProvisioningMode="Continuous"))
        api.wait(Timings().create + Timings().node_launch)  # the scripts run now
        counts[counted] = api.counts()["a"]
    assert counts == {"running": (0, 2), "launched": (2, 2)}


def test_list_tags_shows_changes_late() -> None:
    api = _running(Unknowns(tag_lag=60))
    arn = api("DescribeCluster", ClusterName=NAME)["ClusterArn"]

    def tags() -> list[dict[str, str]]:
        listed: list[dict[str, str]] = api("ListTags", ResourceArn=arn)["Tags"]
        return listed

    api("AddTags", ResourceArn=arn, Tags=[{"Key": "k", "Value": "1"}])
    api("AddTags", ResourceArn=arn, Tags=[{"Key": "k", "Value": "2"}])
    assert tags() == []
    api.wait(60)
    assert tags() == [{"Key": "k", "Value": "2"}]
    api("DeleteTags", ResourceArn=arn, TagKeys=["k"])
    assert tags() == [{"Key": "k", "Value": "2"}]
    api.wait(60)
    assert tags() == []
