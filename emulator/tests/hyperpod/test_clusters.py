"""Clusters of the HyperPod API: names, tags and lists, and what becomes of them with time."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Caller
from hyperpod_emulator.testing.hyperpod_api import (
    CONTINUOUS,
    NAME,
    TIMINGS,
    KnownSubnets,
    Subject,
    eks,
    group,
    settled,
    subject,
)


def test_delete_removes_cluster_and_frees_its_name() -> None:
    api = settled()
    first = api("DeleteCluster", ClusterName=NAME)["ClusterArn"]
    assert api.status() == "Deleting"
    api.wait(TIMINGS.delete)

    for reference in (NAME, first):
        assert api.refused("DescribeCluster", ClusterName=reference).code == "ResourceNotFound"
    assert api("ListClusters")["ClusterSummaries"] == []
    assert api.create()["ClusterArn"] != first


def test_name_in_use() -> None:
    api = settled()

    assert api.refused("CreateCluster", ClusterName=NAME).code == "ResourceInUse"
    api("DeleteCluster", ClusterName=NAME)
    assert api.refused("CreateCluster", ClusterName=NAME).code == "ResourceInUse"


def test_arn_is_deterministic_and_names_the_cluster() -> None:
    api = settled()
    arn = api("DescribeCluster", ClusterName=NAME)["ClusterArn"]

    assert re.fullmatch(r"arn:aws:sagemaker:us-west-2:000000000000:cluster/[a-z0-9]{12}", arn)
    assert settled()("DescribeCluster", ClusterName=arn)["ClusterName"] == NAME


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-gov-west-1", "aws-us-gov"), ("cn-north-1", "aws-cn"), ("eu-west-1", "aws")],
)
def test_clusters_belong_to_an_account_and_a_region(region: str, partition: str) -> None:
    api = settled()
    api.caller = Caller(account="111122223333", region=region, arn="arn:aws:iam::1:root")

    assert api.refused("DescribeCluster", ClusterName=NAME).code == "ResourceNotFound"
    arn = api.create()["ClusterArn"]
    assert arn.startswith(f"arn:{partition}:sagemaker:{region}:111122223333:cluster/")
    assert len(api("ListClusters")["ClusterSummaries"]) == 1


def test_software_update_replaces_the_image() -> None:
    api = settled(groups=[group("a"), group("b")])
    before = _groups(api)

    wanted = [{"InstanceGroupName": "a", "ImageReleaseVersion": "2.3.4"}]
    api("UpdateClusterSoftware", ClusterName=NAME, InstanceGroups=wanted)
    assert api.status() == "SystemUpdating"
    statuses = {n["InstanceGroupName"]: n["InstanceStatus"]["Status"] for n in api.nodes()}
    assert statuses == {"a": "SystemUpdating", "b": "Running"}
    api.wait(TIMINGS.software_update)

    after = _groups(api)
    assert api.status() == "InService"
    assert after["a"]["CurrentImageReleaseVersion"] == "2.3.4"
    assert after["a"]["CurrentImageId"] != before["a"]["CurrentImageId"]
    assert after["a"]["SoftwareUpdateStatus"] == "Succeeded"
    assert after["b"] == before["b"]
    versions = {n["InstanceGroupName"]: n["CurrentImageReleaseVersion"] for n in api.nodes()}
    assert versions["a"] == "2.3.4"
    error = api.refused(
        "UpdateClusterSoftware", ClusterName=NAME, InstanceGroups=[{"InstanceGroupName": "x"}]
    )
    assert error.code == "ValidationException"


def test_tags() -> None:
    api = subject()
    arn = api.create(Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])["ClusterArn"]

    api("AddTags", ResourceArn=arn, Tags=[{"Key": "a", "Value": "3"}, {"Key": "c", "Value": "4"}])
    api("DeleteTags", ResourceArn=arn, TagKeys=["b", "unknown"])

    tags = {tag["Key"]: tag["Value"] for tag in api("ListTags", ResourceArn=arn)["Tags"]}
    assert tags == {"a": "3", "c": "4"}
    many = [{"Key": str(n), "Value": ""} for n in range(49)]
    assert "at most 50" in api.refused("AddTags", ResourceArn=arn, Tags=many).message
    unknown = arn[:-12] + "0" * 12
    assert api.refused("ListTags", ResourceArn=unknown).code == "ResourceNotFound"


def test_list_clusters_filters_and_pages() -> None:
    api = subject()
    for name in ("beta", "alpha", "gamma"):
        api.create(ClusterName=name, Orchestrator=eks(name))
        api.wait(10)

    def names(**request: Any) -> list[str]:
        summaries = api("ListClusters", **request)["ClusterSummaries"]
        return [summary["ClusterName"] for summary in summaries]

    assert names() == ["beta", "alpha", "gamma"]
    assert "not simulated" in api.refused("ListClusters", SortBy="NAME").message
    assert names(NameContains="lph") == ["alpha"]
    first = api("ListClusters", MaxResults=2)
    assert names(MaxResults=2, NextToken=first["NextToken"]) == ["gamma"]
    assert "NextToken" not in api("ListClusters", MaxResults=3)
    assert api.refused("ListClusters", NextToken="mine").code == "ValidationException"


def _groups(api: Subject) -> dict[str, dict[str, Any]]:
    groups = api("DescribeCluster", ClusterName=NAME)["InstanceGroups"]
    return {group["InstanceGroupName"]: group for group in groups}


STEP = 0.5


def test_classic_cluster_is_in_service_when_its_nodes_run() -> None:
    api = subject(timings=TIMINGS)
    api.create()
    seen = []
    for _ in range(30):
        seen.append((api.status(), api.counts()["workers"]))
        api.wait(STEP)

    assert seen[0] == ("Creating", (0, 2))
    # 10 s for the cluster, 2 s to launch the nodes, 1 s for the lifecycle script.
    assert seen.index(("InService", (2, 2))) == 13 / STEP
    assert {status for status, _ in seen} == {"Creating", "InService"}


def test_continuous_cluster_is_in_service_before_its_nodes() -> None:
    api = subject(timings=TIMINGS)
    api.create(**CONTINUOUS)

    api.wait(TIMINGS.create)
    assert (api.status(), api.counts()) == ("InService", {"workers": (0, 2)})
    api.wait(3)
    assert (api.status(), api.counts()) == ("InService", {"workers": (2, 2)})


def test_group_of_continuous_cluster_is_in_service_at_its_minimum() -> None:
    # A /28 has 11 addresses for nodes.
    api = subject(timings=TIMINGS, network=KnownSubnets(cidr="10.1.0.0/28"))
    api.create(group("a", 15, MinInstanceCount=5), **CONTINUOUS)

    api.wait(TIMINGS.create + 1)
    early = _groups(api)["a"]
    assert (early["Status"], early["MinCount"]) == ("Creating", 5)
    assert early["ActiveOperations"] == {"Scaling": 1}
    api.wait(2)
    assert _groups(api)["a"]["Status"] == "InService"
    api.wait()
    late = _groups(api)["a"]
    assert (late["Status"], late["CurrentCount"]) == ("Degraded", 11)
    assert late["ActiveOperations"] == {"Scaling": 1}


def test_state_does_not_depend_on_how_often_it_is_looked_at() -> None:
    often, once = subject(timings=TIMINGS), subject(timings=TIMINGS)
    for api in (often, once):
        api.create(group("a", 3), group("b", 1), **CONTINUOUS)
    for _ in range(100):
        often.wait(STEP)
        often.status()
    once.wait(100 * STEP)

    for operation in ("DescribeCluster", "ListClusterNodes", "ListClusterEvents"):
        assert often(operation, ClusterName=NAME) == once(operation, ClusterName=NAME)


def test_flexible_and_restricted_groups_are_described_in_their_own_shapes() -> None:
    types = ["ml.p5.48xlarge", "ml.p5e.48xlarge"]
    api = settled(
        groups=[
            group(
                InstanceType=None,
                InstanceRequirements={"InstanceTypes": types},
                KubernetesConfig={"Labels": {"team": "a"}},
            )
        ],
        RestrictedInstanceGroups=[group("nova", 1, LifeCycleConfig=None)],
        **CONTINUOUS,
    )

    described = api("DescribeCluster", ClusterName=NAME)

    (flexible,) = described["InstanceGroups"]
    assert flexible["InstanceRequirements"]["DesiredInstanceTypes"] == types
    assert flexible["InstanceTypeDetails"][0] == {"InstanceType": types[0], "CurrentCount": 2}
    assert flexible["KubernetesConfig"]["CurrentLabels"] == {"team": "a"}
    (restricted,) = described["RestrictedInstanceGroups"]
    assert (restricted["InstanceGroupName"], restricted["CurrentCount"]) == ("nova", 1)


@pytest.mark.parametrize("members", [{}, CONTINUOUS])
def test_update_changes_adds_and_deletes_groups(members: dict[str, Any]) -> None:
    api = settled(groups=[group("a", 2), group("b", 1), group("c", 1)], **members)

    api(
        "UpdateCluster",
        ClusterName=NAME,
        InstanceGroups=[group("a", 5), group("d", 1)],
        InstanceGroupsToDelete=["b"],
        NodeRecovery="None",
    )

    assert api.status() == "Updating"
    assert api.counts() == {"a": (2, 5), "b": (1, 0), "c": (1, 1), "d": (0, 1)}
    api.wait()
    assert api.status() == "InService"
    assert api.counts() == {"a": (5, 5), "c": (1, 1), "d": (1, 1)}
    assert api("DescribeCluster", ClusterName=NAME)["NodeRecovery"] == "None"


@pytest.mark.parametrize("status", ["Creating", "Updating", "Deleting", "SystemUpdating"])
@pytest.mark.parametrize("operation", ["UpdateCluster", "DeleteCluster", "UpdateClusterSoftware"])
def test_busy_cluster_cannot_be_changed(status: str, operation: str) -> None:
    api = subject(timings=TIMINGS)
    api.create()
    if status != "Creating":
        api.wait()
    if status == "Updating":
        api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group(count=4)])
    elif status == "Deleting":
        api("DeleteCluster", ClusterName=NAME)
    elif status == "SystemUpdating":
        api("UpdateClusterSoftware", ClusterName=NAME)
    assert api.status() == status

    error = api.refused(operation, ClusterName=NAME)

    assert error.code == "ConflictException"
    assert status in error.message


def test_group_that_is_being_deleted_cannot_be_updated() -> None:
    api = settled(groups=[group("a"), group("b")], **CONTINUOUS)
    api("UpdateCluster", ClusterName=NAME, InstanceGroupsToDelete=["b"])
    api.wait(TIMINGS.update)
    assert api.status() == "InService"

    error = api.refused("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("b")])

    assert error.code == "ConflictException"
    api.wait()
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("b")])
