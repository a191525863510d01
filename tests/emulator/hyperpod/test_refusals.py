"""Calls that the HyperPod API refuses at first, or for a quota."""

from __future__ import annotations

from emulator.hyperpod import Faults
from tests.support.hyperpod_api import (
    NAME,
    ROLE,
    create_request,
    eks,
    group,
    subject,
)


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


def test_first_calls_are_throttled() -> None:
    api = subject(faults=Faults(throttled_calls={"DescribeCluster": 2}))
    api.create()

    for _ in range(2):
        assert api.refused("DescribeCluster", ClusterName=NAME).code == "ThrottlingException"
    assert api.status() == "Creating"


def test_role_is_not_visible_at_first() -> None:
    api = subject(faults=Faults(role_not_propagated_calls=1))

    error = api.refused("CreateCluster", **create_request())
    assert error.code == "ValidationException"
    assert f"Could not assume role {ROLE}" in error.message
    assert api("ListClusters")["ClusterSummaries"] == []
    api.create()


def test_delete_is_blocked_at_first() -> None:
    api = subject(faults=Faults(delete_conflicts=2))
    api.create()
    api.wait()

    for _ in range(2):
        assert api.refused("DeleteCluster", ClusterName=NAME).code == "ConflictException"
    api("DeleteCluster", ClusterName=NAME)


def test_counted_faults_start_again_when_replaced() -> None:
    faults = Faults(throttled_calls={"ListClusters": 1})
    api = subject(faults=faults)
    assert api.refused("ListClusters").code == "ThrottlingException"
    api("ListClusters")

    api.service.faults = faults

    assert api.refused("ListClusters").code == "ThrottlingException"
