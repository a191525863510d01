"""Cluster events, which HyperPod records in Continuous provisioning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        event_id: UUID.
        time: Epoch seconds.
        level: Info, Warn or Error.
        resource_type: Cluster, InstanceGroup or Instance.
        description: What happened.
        group_name: Instance group concerned, if any.
        instance_id: Instance concerned, if any.
        metadata: EventMetadata union: one member named after the resource type.
    """

    event_id: str
    time: float
    level: str
    resource_type: str
    description: str
    group_name: str | None = None
    instance_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
