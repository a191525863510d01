"""What EventBridge gets of clusters, in AWS's forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.hyperpod import Faults
from hyperpod_emulator.testing.hyperpod_api import CONTINUOUS, NAME, group, subject

SHORTAGE = Faults(capacity_shortage=frozenset({"a"}))


@dataclass
class Bus:
    """An event bus that notes what it gets."""

    events: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def put(self, *, cluster_arn: str, detail_type: str, detail: Mapping[str, Any]) -> None:
        """Note an event of a cluster."""
        named = detail.get("EventDetails", detail)
        assert named["ClusterArn"] == cluster_arn
        self.events.append((detail_type.removeprefix("SageMaker HyperPod Cluster "), detail))

    def statuses(self) -> list[str]:
        """Return the statuses that were told, in their order."""
        return [detail["ClusterStatus"] for kind, detail in self.events if kind == "State Change"]


def test_each_event_is_put_once_without_its_cause() -> None:
    bus = Bus()
    api = subject(faults=SHORTAGE, bus=bus)
    api.create(group("a", 1), **CONTINUOUS)
    api.wait(14)
    api.service.advance()

    errors = [
        detail["EventDetails"]
        for kind, detail in bus.events
        if kind == "Event" and detail["EventDetails"]["EventLevel"] == "Error"
    ]
    assert [each["Description"] for each in errors[:2]] == [
        f"Failed to provision EC2 Instance in Cluster {NAME} and InstanceGroup a",
        f"Instance creation in Cluster {NAME} and InstanceGroup a failed",
    ]
    metadata = errors[0]["EventDetails"]["EventMetadata"]
    assert metadata["Instance"]["FailureMessage"] is None
    assert metadata["Cluster"] is None
    listed = api("ListClusterEvents", ClusterName=NAME, MaxResults=100)["Events"]
    told = [d["EventDetails"]["EventId"] for kind, d in bus.events if kind == "Event"]
    assert sorted(told) == sorted(each["EventId"] for each in listed)
    known = api("DescribeClusterEvent", ClusterName=NAME, EventId=errors[0]["EventId"])
    cause = known["EventDetails"]["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"]
    assert "sufficient capacity" in cause


def test_each_change_of_status_is_put_once() -> None:
    bus = Bus()
    api = subject(bus=bus)
    api.create(group("a", 1))
    api.wait()
    api.service.advance()
    assert bus.statuses() == ["Creating", "InService"]
    api.service.faults = SHORTAGE
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 2)])
    api.wait()
    api.service.advance()
    assert bus.statuses()[2:] == ["Updating", "RollingBack", "InService"]
    [undone] = [detail for _, detail in bus.events if detail.get("ClusterStatus") == "RollingBack"]
    assert "sufficient capacity" in undone["FailureMessage"]


def test_a_faulty_node_is_put_with_what_is_done_about_it() -> None:
    bus = Bus()
    api = subject(bus=bus)
    api.create(group("a", 1))
    api.wait()
    api.service.advance()
    [node] = [each["InstanceId"] for each in api.nodes()]
    api.service.replace_node(cluster=NAME, instance_id=node)
    [(_, detail)] = [each for each in bus.events if each[0] == "Node Health Event"]
    assert detail["InstanceId"] == node
    assert detail["HealthSummary"]["HealthStatus"] == "Unhealthy"
    assert detail["HealthSummary"]["RepairAction"] == "Replace"
