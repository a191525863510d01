"""Records cluster events."""

from __future__ import annotations

from typing import Any

from hyperpod_emulator.hyperpod.simulation.state import (
    Cluster,
    Event,
    InstanceGroup,
    Node,
    unique_id,
)


def record(
    cluster: Cluster,
    about: InstanceGroup | Node | None = None,
    *,
    time: float,
    description: str,
    level: str = "Info",
    failure_message: str | None = None,
    lifecycle_script_state: str | None = None,
) -> None:
    """Record an event of the cluster itself, the scaling of a group, or an instance."""
    if not cluster.continuous:
        return
    kind, group, instance, subtree = "Cluster", None, None, "Cluster"
    said: dict[str, Any] = {"FailureMessage": failure_message} if failure_message else {}
    if isinstance(about, InstanceGroup):
        kind, group, subtree = "InstanceGroup", about.name, "InstanceGroupScaling"
        said |= {
            "InstanceCount": about.current_count,
            "TargetCount": about.target_count,
            "MinCount": about.minimum_count,
        }
    elif about is not None:
        kind, group, instance, subtree = "Instance", about.group_name, about.instance_id, "Instance"
        said["NodeLogicalId"] = about.logical_id
        if lifecycle_script_state:
            said["LcsExecutionState"] = lifecycle_script_state
    cluster.events.append(
        Event(
            event_id=unique_id(cluster.arn, "event", len(cluster.events)),
            time=time,
            level=level,
            resource_type=kind,
            description=description,
            group_name=group,
            instance_id=instance,
            metadata={subtree: said},
        )
    )
