"""Clusters of the HyperPod API: names, ARNs, tags, lists and software."""

from __future__ import annotations

import re
from typing import Any

import pytest

from emulator.hyperpod import Caller
from tests.support.hyperpod_api import (
    NAME,
    TIMINGS,
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


def test_list_clusters_filters_sorts_and_pages() -> None:
    api = subject()
    for name in ("beta", "alpha", "gamma"):
        api.create(ClusterName=name, Orchestrator=eks(name))
        api.wait(10)

    def names(**request: Any) -> list[str]:
        summaries = api("ListClusters", **request)["ClusterSummaries"]
        return [summary["ClusterName"] for summary in summaries]

    assert names() == ["beta", "alpha", "gamma"]
    assert names(SortBy="NAME", SortOrder="Descending") == ["gamma", "beta", "alpha"]
    assert names(NameContains="lph") == ["alpha"]
    assert names(CreationTimeAfter=api.clock.now - 25) == ["alpha", "gamma"]
    first = api("ListClusters", MaxResults=2)
    assert names(MaxResults=2, NextToken=first["NextToken"]) == ["gamma"]
    assert "NextToken" not in api("ListClusters", MaxResults=3)
    assert api.refused("ListClusters", NextToken="mine").code == "ValidationException"


def _groups(api: Subject) -> dict[str, dict[str, Any]]:
    groups = api("DescribeCluster", ClusterName=NAME)["InstanceGroups"]
    return {group["InstanceGroupName"]: group for group in groups}
