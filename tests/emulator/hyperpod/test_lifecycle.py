"""Clusters of the HyperPod API as time passes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.hyperpod_api import (
    CONTINUOUS,
    EKS_CLUSTER,
    NAME,
    TIMINGS,
    KnownSubnets,
    Subject,
    group,
    settled,
    subject,
)

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
    api = subject(timings=TIMINGS, subnets=KnownSubnets(cidr="10.1.0.0/28"))
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


def test_description_repeats_what_was_asked_for() -> None:
    storage = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    wanted = group(
        ThreadsPerCore=2,
        InstanceStorageConfigs=storage,
        OnStartDeepHealthChecks=["InstanceStress"],
    )
    vpc = {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1", "subnet-2"]}
    api = settled(groups=[wanted], VpcConfig=vpc, **CONTINUOUS)

    described = api("DescribeCluster", ClusterName=NAME)

    assert described["ClusterName"] == NAME
    assert described["Orchestrator"] == {"Eks": {"ClusterArn": EKS_CLUSTER}}
    assert described["VpcConfig"] == vpc
    assert described["NodeRecovery"] == "Automatic"
    assert described["NodeProvisioningMode"] == "Continuous"
    assert "FailureMessage" not in described
    (shown,) = described["InstanceGroups"]
    for member in set(wanted) - {"InstanceCount"}:
        assert shown[member] == wanted[member]


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


def test_scaling_down_stops_nodes_and_frees_their_addresses() -> None:
    api = settled(groups=[group("a", 3)])
    before = _instance_ids(api)

    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 1)])
    api.wait(TIMINGS.update)
    statuses = sorted(node["InstanceStatus"]["Status"] for node in api.nodes())
    assert statuses == ["Running", "ShuttingDown", "ShuttingDown"]
    assert api.status() == "Updating"
    api.wait()

    assert api.status() == "InService"
    assert _instance_ids(api) < before
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 3)])
    api.wait()
    assert len(_instance_ids(api) - before) == 2
    # 100.64.0.4 to .6: the lowest ones are given out again.
    names = sorted(node["PrivateDnsHostname"].split(".")[0] for node in api.nodes())
    assert names == ["ip-100-64-0-4", "ip-100-64-0-5", "ip-100-64-0-6"]


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


def _groups(api: Subject) -> dict[str, dict[str, Any]]:
    groups = api("DescribeCluster", ClusterName=NAME)["InstanceGroups"]
    return {group["InstanceGroupName"]: group for group in groups}


def _instance_ids(api: Subject) -> set[str]:
    return {node["InstanceId"] for node in api.nodes()}
