"""Nodes of the HyperPod API: what is shown of them, and what can be done to them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from hyperpod_emulator.hyperpod import ApiError, Faults, NodeView, Observer, Timings
from hyperpod_emulator.testing.hyperpod_api import (
    CONTINUOUS,
    NAME,
    KnownSubnets,
    eks,
    group,
    ids,
    running,
    subject,
)

NOBODY = "i-00000000000000000"
CHECKS = {"OnStartDeepHealthChecks": ["InstanceStress"]}


@dataclass
class Watcher(Observer):
    """Keeps the nodes that have joined."""

    nodes: dict[str, NodeView] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    scaled: int = 0
    marked: dict[str, str] = field(default_factory=dict)

    def node_running(self, node: NodeView) -> None:
        self.nodes[node.instance_id] = node

    def node_silent(self, node: NodeView) -> None:
        self.silent.append(node.instance_id)

    def node_removed(self, node: NodeView) -> None:
        del self.nodes[node.instance_id]
        self.removed.append(node.instance_id)

    def autoscaling_started(self) -> None:
        self.scaled += 1

    def marked_nodes(self) -> Mapping[str, str]:
        return self.marked


def test_node_statuses() -> None:
    api = subject(timings=Timings(create=1, node_launch=1, lifecycle_script=1, deep_health_check=1))
    api.create(group("a", 1, **CHECKS), **CONTINUOUS)
    seen = []
    for _ in range(5):
        every = api.nodes(IncludeNodeLogicalIds=True)
        launched = api.nodes()
        seen.append([(node["InstanceStatus"]["Status"], len(launched)) for node in every])
        api.wait(1)

    assert seen == [
        [],
        [("Pending", 0)],
        [("Pending", 1)],
        [("DeepHealthCheckInProgress", 1)],
        [("Running", 1)],
    ]


def test_nodes_get_addresses_of_their_subnet() -> None:
    api = running(network=KnownSubnets(cidr="10.1.0.0/24"))

    addresses = set()
    for instance in ids(api):
        details = api("DescribeClusterNode", ClusterName=NAME, NodeId=instance)["NodeDetails"]
        address = details["PrivatePrimaryIp"]
        addresses.add(ipaddress.ip_address(address))
        hostname = f"ip-{address.replace('.', '-')}.us-west-2.compute.internal"
        assert details["PrivateDnsHostname"] == hostname
        zone = {"AvailabilityZone": "us-west-2b", "AvailabilityZoneId": "usw2-az2"}
        assert details["Placement"] == zone
        assert details["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    first = ipaddress.ip_address("10.1.0.4")
    assert addresses == {first, first + 1, first + 2}


def test_node_is_found_by_either_id() -> None:
    api = running()
    node = api.nodes(IncludeNodeLogicalIds=True)[0]
    assert "NodeLogicalId" not in api.nodes()[0]

    by_id = api("DescribeClusterNode", ClusterName=NAME, NodeId=node["InstanceId"])
    by_logical = api("DescribeClusterNode", ClusterName=NAME, NodeLogicalId=node["NodeLogicalId"])
    assert by_id == by_logical
    error = api.refused("DescribeClusterNode", ClusterName=NAME, NodeId=NOBODY)
    assert error.code == "ResourceNotFound"
    assert api.refused("DescribeClusterNode", ClusterName=NAME).code == "ValidationException"


def test_observer_sees_nodes_come_and_go() -> None:
    watcher = Watcher()
    labels = {"example.com/team": "vision"}
    taints = [{"Key": "gpu", "Effect": "NoSchedule"}]
    api = subject(observer=watcher, network=KnownSubnets(cidr="10.1.0.0/24"))
    arn = api.create(group("a", 2, KubernetesConfig={"Labels": labels, "Taints": taints}))
    api.wait()
    api.status()

    assert set(ids(api)) == set(watcher.nodes)
    node = watcher.nodes[ids(api)[0]]
    assert node.kubernetes_name == f"hyperpod-{node.instance_id}"
    assert node.labels["example.com/team"] == "vision"
    assert node.labels["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"
    assert node.labels["sagemaker.amazonaws.com/instance-group-name"] == "a"
    assert node.labels["node.kubernetes.io/instance-type"] == "ml.g5.12xlarge"
    assert node.labels["topology.kubernetes.io/zone"] == "us-west-2b"
    assert node.taints == tuple(taints)
    assert node.log_group.endswith(f"/{NAME}/{arn['ClusterArn'].rpartition('/')[2]}")

    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 1)])
    api.wait()
    (kept,) = ids(api)
    assert list(watcher.nodes) == [kept]
    (left,) = watcher.nodes.values()
    assert "example.com/team" not in left.labels
    assert left.taints == ()
    api("DeleteCluster", ClusterName=NAME)
    api.wait()
    api("ListClusters")
    assert watcher.nodes == {}
    assert len(watcher.removed) == 2


def test_auto_recovery_replaces_the_instance_and_keeps_the_node() -> None:
    watcher = Watcher()
    api = running(observer=watcher)
    faulty = api.nodes(IncludeNodeLogicalIds=True)[0]

    api.service.replace_node(cluster=NAME, instance_id=faulty["InstanceId"])

    assert api.nodes()[0]["InstanceStatus"]["Status"] == "ShuttingDown"
    assert api.counts()["a"] == (1, 2)
    api.wait()
    assert api.counts()["a"] == (2, 2)
    assert faulty["InstanceId"] not in ids(api)
    logical_ids = [node["NodeLogicalId"] for node in api.nodes(IncludeNodeLogicalIds=True)]
    assert faulty["NodeLogicalId"] in logical_ids
    assert faulty["InstanceId"] not in watcher.nodes
    assert sorted(watcher.nodes) == sorted(ids(api))
    assert any("Hardware failure" in event["Description"] for event in api.events())
    with pytest.raises(ApiError, match="not found"):
        api.service.replace_node(cluster=NAME, instance_id=NOBODY)


def test_events_are_for_continuous_clusters() -> None:
    api = running()

    events = api.events()
    assert [event["EventTime"] for event in events] == sorted(
        (event["EventTime"] for event in events), reverse=True
    )
    oldest_first = api.events(SortOrder="Ascending")
    assert oldest_first == events[::-1]
    assert oldest_first[0]["Description"] == f"Cluster {NAME} is being created"
    assert {e["InstanceGroupName"] for e in api.events(InstanceGroupName="a")} == {"a"}
    assert api.events(EventTimeAfter=api.clock.now) == []
    unknown = "00000000-0000-4000-8000-000000000000"
    error = api.refused("DescribeClusterEvent", ClusterName=NAME, EventId=unknown)
    assert error.code == "ResourceNotFound"

    api.create(ClusterName="classic", Orchestrator=eks("classic"))
    classic = api.refused("ListClusterEvents", ClusterName="classic")
    assert classic.code == "ValidationException"


def test_batch_add() -> None:
    api = running()
    additions = [
        {"InstanceGroupName": "b", "IncrementTargetCountBy": 3},
        {"InstanceGroupName": "x", "IncrementTargetCountBy": 1},
    ]

    answer = api("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=additions, ClientToken="t")

    assert [node["Status"] for node in answer["Successful"]] == ["Pending"] * 3
    (failed,) = answer["Failed"]
    assert (failed["ErrorCode"], failed["FailedCount"]) == ("InstanceGroupNotFound", 1)
    api.wait()
    # The SDKs give each call a token of its own, and repeat it when they try again.
    again = api("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=additions, ClientToken="t")
    logical_ids = [node["NodeLogicalId"] for node in answer["Successful"]]
    assert [node["NodeLogicalId"] for node in again["Successful"]] == logical_ids
    assert [node["Status"] for node in again["Successful"]] == ["Running"] * 3
    assert api.counts() == {"a": (2, 2), "b": (4, 4)}


def test_batch_add_is_refused() -> None:
    api = running(faults=Faults(quotas={"ml.g5.12xlarge": 3}))
    addition = {"InstanceGroupName": "a", "IncrementTargetCountBy": 1}
    over = api.refused("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=[addition])
    assert over.code == "ResourceLimitExceeded"

    most = {"InstanceGroupName": "a", "IncrementTargetCountBy": 50}
    many = api.refused("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=[most, addition])
    assert "At most 50" in many.message

    api.create(group(count=0), ClusterName="classic", Orchestrator=eks("classic"))
    classic = api.refused("BatchAddClusterNodes", ClusterName="classic", NodesToAdd=[addition])
    assert classic.code == "ValidationException"


def test_batch_delete_lowers_the_target() -> None:
    api = running()
    first, second = api.nodes(InstanceGroupNameContains="a", IncludeNodeLogicalIds=True)

    answer = api(
        "BatchDeleteClusterNodes",
        ClusterName=NAME,
        NodeIds=[first["InstanceId"], NOBODY],
        NodeLogicalIds=[second["NodeLogicalId"]],
    )

    assert answer["Successful"] == [first["InstanceId"]]
    assert answer["SuccessfulNodeLogicalIds"] == [second["NodeLogicalId"]]
    assert [failure["Code"] for failure in answer["Failed"]] == ["NodeIdNotFound"]
    api.wait()
    assert api.counts() == {"a": (0, 0), "b": (1, 1)}
    assert api.refused("BatchDeleteClusterNodes", ClusterName=NAME).code == "ValidationException"


def test_batch_replace_and_reboot() -> None:
    api = running()
    (before,) = ids(api, "b")

    replaced = api("BatchReplaceClusterNodes", ClusterName=NAME, NodeIds=[before, NOBODY])
    assert replaced["Successful"] == [before]
    assert [failure["ErrorCode"] for failure in replaced["Failed"]] == ["InstanceIdNotFound"]
    busy = api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[before])
    assert [failure["ErrorCode"] for failure in busy["Failed"]] == ["InvalidInstanceStatus"]
    api.wait()
    (after,) = ids(api, "b")
    assert after != before

    assert api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[after])["Failed"] == []
    (rebooting,) = api.nodes(InstanceGroupNameContains="b")
    assert rebooting["InstanceStatus"]["Status"] == "Pending"
    api.wait()
    (rebooted,) = api.nodes(InstanceGroupNameContains="b")
    assert rebooted["InstanceId"] == after
    assert rebooted["InstanceStatus"]["Status"] == "Running"


def test_a_node_that_reboots_is_in_use() -> None:
    api = running()
    first, *_ = ids(api)
    api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[first])

    for operation, member, code in (
        ("BatchRebootClusterNodes", "ErrorCode", "InstanceIdInUse"),
        ("BatchReplaceClusterNodes", "ErrorCode", "InstanceIdInUse"),
        ("BatchDeleteClusterNodes", "Code", "NodeIdInUse"),
    ):
        (failed,) = api(operation, ClusterName=NAME, NodeIds=[first])["Failed"]
        assert failed[member] == code


def test_karpenter_comes_after_the_cluster_and_goes_with_its_switch() -> None:
    watcher = Watcher()
    api = subject(timings=Timings(create=1, update=1, autoscaling=2), observer=watcher)
    settings = {"AutoScalerType": "Karpenter"}
    role = {"ClusterRole": "arn:aws:iam::111122223333:role/Scaling"}

    def status() -> str:
        found: str = api("DescribeCluster", ClusterName=NAME)["AutoScaling"]["Status"]
        return found

    api.create(group("a", 0), AutoScaling={"Mode": "Enable", **settings}, **role, **CONTINUOUS)
    api.wait(1)
    assert (status(), watcher.scaled) == ("Creating", 0)
    api.wait(2)
    assert (status(), watcher.scaled) == ("InService", 1)
    groups = {"ClusterName": NAME, "InstanceGroups": [group("a", 0)]}
    api("UpdateCluster", **groups, AutoScaling={"Mode": "Disable"})
    api.wait(1)
    api("UpdateCluster", **groups, AutoScaling={"Mode": "Enable", **settings}, **role)
    api.wait(1)
    assert status() == "Creating"
    api.wait(2)
    assert (status(), watcher.scaled) == ("InService", 2)
