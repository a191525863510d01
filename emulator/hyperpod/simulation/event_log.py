"""Records cluster events."""

from __future__ import annotations

from typing import Any

from emulator.hyperpod.simulation.state import Cluster, Event, InstanceGroup, Node, unique_id


def _record(
    cluster: Cluster,
    *,
    time: float,
    level: str,
    resource_type: str,
    description: str,
    group_name: str | None = None,
    instance_id: str | None = None,
    metadata: dict[str, Any],
) -> None:
    if not cluster.continuous:
        return
    event = Event(
        event_id=unique_id(cluster.arn, "event", len(cluster.events)),
        time=time,
        level=level,
        resource_type=resource_type,
        description=description,
        group_name=group_name,
        instance_id=instance_id,
        metadata=metadata,
    )
    cluster.events.append(event)


def record_cluster(
    cluster: Cluster,
    *,
    time: float,
    description: str,
    level: str = "Info",
    failure_message: str | None = None,
) -> None:
    """Record an event of the cluster itself."""
    _record(
        cluster,
        time=time,
        level=level,
        resource_type="Cluster",
        description=description,
        metadata={"Cluster": _failure(failure_message)},
    )


def record_group(
    cluster: Cluster,
    group: InstanceGroup,
    *,
    time: float,
    description: str,
    level: str = "Info",
    failure_message: str | None = None,
) -> None:
    """Record a scaling event of an instance group."""
    scaling = {
        "InstanceCount": group.current_count,
        "TargetCount": group.target_count,
        "MinCount": group.minimum_count,
    }
    _record(
        cluster,
        time=time,
        level=level,
        resource_type="InstanceGroup",
        description=description,
        group_name=group.name,
        metadata={"InstanceGroupScaling": {**scaling, **_failure(failure_message)}},
    )


def record_node(
    cluster: Cluster,
    node: Node,
    *,
    time: float,
    description: str,
    level: str = "Info",
    failure_message: str | None = None,
    lifecycle_script_state: str | None = None,
) -> None:
    """Record an event of an instance."""
    instance = {"NodeLogicalId": node.logical_id, **_failure(failure_message)}
    if lifecycle_script_state:
        instance["LcsExecutionState"] = lifecycle_script_state
    _record(
        cluster,
        time=time,
        level=level,
        resource_type="Instance",
        description=description,
        group_name=node.group_name,
        instance_id=node.instance_id,
        metadata={"Instance": instance},
    )


def _failure(message: str | None) -> dict[str, str]:
    return {"FailureMessage": message} if message else {}
