"""The events of a cluster: how grave each is, each fault once, and nothing that misleads."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

from hyperpod_shared.clusters import Groups


class Level(StrEnum):
    """SageMaker's levels of events, from the least."""

    INFO = "Info"
    WARN = "Warn"
    ERROR = "Error"


Event = Mapping[str, Any]
"""An entry of ListClusterEvents."""
# HyperPod reports one fault in two events within about a second; awslabs/awsome-distributed-ai,
# hyperpod-mental-model.md.
_SAME_FAULT = timedelta(seconds=5)
# While a cluster is scaled, HyperPod warns of nodes that are missing for that reason.
_IN_SERVICE = re.compile(r"\bis InService\b", re.IGNORECASE)
_SCALING_WARNING = re.compile(r"lost orchestration-ready status", re.IGNORECASE)


Fault = tuple[Event, set[str]]
"""The newest of the events that tell one thing that happened, and what they say."""


def level_of(event: Event) -> str:
    """Return the level of an event: Info where SageMaker, which need not, does not say."""
    return str(event.get("EventLevel", Level.INFO))


def each_once(events: Sequence[Event]) -> list[Event]:
    """Return the events, newest first, without the second of those that report one fault."""
    faults: list[Fault] = []
    for event in events:
        fault = next((earlier for earlier in _near(faults, event) if _tells(earlier, event)), None)
        if fault is None:
            faults.append((event, {event.get("Description", "")}))
        else:
            fault[1].add(event.get("Description", ""))
    return [first for first, _ in faults]


def without_misleading(events: Sequence[Event], groups: Groups) -> list[Event]:
    """Return events, newest first, without warnings that only say that a cluster is being scaled.

    The warnings count when each group has the nodes it should have, and theirs has not come
    InService since.
    """
    scales = any(group.get("CurrentCount") != group.get("TargetCount") for group in groups.values())
    in_service: set[str] = set()
    kept = []
    for event in events:
        group, description = event.get("InstanceGroupName", ""), event.get("Description", "")
        if is_scaling_warning(description):
            if scales or group in in_service:
                continue
        elif group and _IN_SERVICE.search(description):
            in_service.add(group)
        kept.append(event)
    return kept


def is_scaling_warning(description: str) -> bool:
    """Say whether an event warns of nodes that are missing, as it does while a cluster is scaled.

    awslabs/awsome-distributed-ai, hyperpod-mental-model.md
    """
    return bool(_SCALING_WARNING.search(description))


def _near(faults: Sequence[Fault], event: Event) -> Iterator[Fault]:
    for fault in reversed(faults):
        if fault[0]["EventTime"] - event["EventTime"] > _SAME_FAULT:
            return
        yield fault


def _tells(fault: Fault, event: Event) -> bool:
    """Say whether an event tells a fault in other words."""
    first, descriptions = fault
    levels = (level_of(first), level_of(event))
    return (
        levels == (Level.ERROR, Level.ERROR)
        and first.get("InstanceGroupName") == event.get("InstanceGroupName")
        and first.get("InstanceId") == event.get("InstanceId")
        and event.get("Description", "") not in descriptions
    )
