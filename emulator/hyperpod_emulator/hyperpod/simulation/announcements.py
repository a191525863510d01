"""Tells EventBridge of clusters, in the forms of AWS.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-events-reference.html
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_emulator.hyperpod.simulation.hooks import EventBus
from hyperpod_emulator.hyperpod.simulation.nodes import LocatedNode
from hyperpod_emulator.hyperpod.simulation.state import Cluster, ClusterRegistry, Event

_CLUSTER_EVENT = "SageMaker HyperPod Cluster Event"
_STATE_CHANGE = "SageMaker HyperPod Cluster State Change"
_NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
# All are there in EventBridge, without a cause: awslabs/awsome-distributed-ai,
# hyperpod-mental-model.md.
_SUBTREES = (
    "Cluster",
    "Instance",
    "InstanceGroup",
    "InstanceGroupScaling",
    "InstanceHealth",
    "InstanceMonitor",
)


class Announcer:
    """Puts what has happened to clusters on an event bus, each thing once."""

    def __init__(self, *, registry: ClusterRegistry, bus: EventBus) -> None:
        self._registry = registry
        self._bus = bus
        self._seen: dict[str, tuple[str, int]] = {}

    def look(self) -> None:
        """Announce the events and the changes of status since the last look."""
        for cluster in self._registry.all:
            status, count = self._seen.get(cluster.arn, ("", 0))
            self._seen[cluster.arn] = cluster.status, len(cluster.events)
            for event in cluster.events[count:]:
                self._put(cluster, _CLUSTER_EVENT, {"EventDetails": _event(cluster, event)})
            if cluster.status != status:
                self._put(cluster, _STATE_CHANGE, _state(cluster))

    def node_is_faulty(self, place: LocatedNode, *, reason: str, repair: str) -> None:
        """Announce that HyperPod has found a node faulty, and what it does about it."""
        health = {
            "HealthStatus": "Unhealthy",
            "HealthStatusReason": reason,
            "RepairAction": repair,
            "Recommendation": f"Please {repair} the Faulty Node.",
        }
        detail: dict[str, Any] = {
            **_names(place.cluster),
            "InstanceId": place.node.instance_id,
            "Tags": {},
        }
        self._put(place.cluster, _NODE_HEALTH, {**detail, "HealthSummary": health})

    def _put(self, cluster: Cluster, detail_type: str, detail: Mapping[str, Any]) -> None:
        self._bus.put(cluster_arn=cluster.arn, detail_type=detail_type, detail=detail)


def _names(cluster: Cluster) -> dict[str, str]:
    return {"ClusterArn": cluster.arn, "ClusterName": cluster.name}


def _event(cluster: Cluster, event: Event) -> dict[str, Any]:
    metadata: dict[str, Any] = dict.fromkeys(_SUBTREES)
    metadata |= {
        name: {**members, "FailureMessage": None} for name, members in event.metadata.items()
    }
    optional = {"InstanceGroupName": event.group_name, "InstanceId": event.instance_id}
    return {
        **_names(cluster),
        "EventId": event.event_id,
        "ResourceType": event.resource_type,
        "EventTime": int(event.time * 1000),
        "EventLevel": event.level,
        "Description": event.description,
        "EventDetails": {"EventMetadata": metadata},
        **{name: value for name, value in optional.items() if value is not None},
    }


def _state(cluster: Cluster) -> dict[str, Any]:
    return {
        **_names(cluster),
        "ClusterStatus": cluster.status,
        "CreationTime": int(cluster.created_at * 1000),
        "FailureMessage": cluster.failure_message or "",
        "InstanceGroups": [
            {
                "InstanceGroupName": group.name,
                "Status": group.status,
                "CurrentCount": group.current_count,
                "TargetCount": group.target_count,
            }
            for group in cluster.groups.values()
        ],
        "NodeRecovery": cluster.settings.get("NodeRecovery"),
    }
