"""What an event of HyperPod says, as far as someone may have to be told of it.

The events' members are AWS's:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-events-reference.html
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from hyperpod_shared.clusters import CLUSTER_EVENT, NODE_HEALTH, STATE_CHANGE
from hyperpod_shared.failures import failure_message

Event = Mapping[str, Any]
"""As EventBridge delivers it."""


# "N node(s) lost orchestration-ready status. Current: X/Y orchestration-ready [...]":
# awslabs/awsome-distributed-ai, hyperpod-mental-model.md.
_READINESS = re.compile(r"lost orchestration-ready")
_COUNTS = re.compile(r"(?P<lost>\d+) node\(s\) lost .*Current: (?P<ready>\d+)/(?P<all>\d+) ")
_MILLISECONDS = 1000


class What(StrEnum):
    """What was found."""

    FAILURE = "a failure of an instance, of a group or of the cluster"
    STATUS = "a status of the cluster"
    FAULTY = "a node that HyperPod found faulty"
    HEALTHY = "a node that HyperPod found healthy again"
    READINESS = "nodes that are not ready for work any more"
    MISSING = "fewer nodes than wanted, for long"
    STILL_FAULTY = "a node that stays faulty"
    PLAN = "a training plan that ends soon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that someone may have to be told of.

    The time is in seconds since the epoch.

    Attributes:
        description: AWS's words of what happened; or ours, of what no event says.
        text: AWS's words of the cause; empty if it gives none.
        event_id: The event in the cluster's own log, which may know more of the cause.
        repair: What HyperPod does about a faulty node: Replace, Reboot or None.
        changed_lately: Whether other events tell of nodes that come or go at that time.
        was_whole: Whether all nodes were ready before they were lost, so an earlier loss is over.
        waits: How often events of the same fault, and its cause, have had the time to arrive.
    """

    what: What
    cluster_arn: str
    time: float
    description: str = ""
    text: str = ""
    event_id: str | None = None
    group: str | None = None
    instance: str | None = None
    status: str = ""
    repair: str = ""
    plan: str = ""
    changed_lately: bool = False
    was_whole: bool = False
    waits: int = 0


def finding_of(event: Event) -> Finding | None:
    """Return what an event says; None if no one has to be told of such."""
    reader = {
        CLUSTER_EVENT: _of_cluster_event,
        STATE_CHANGE: _of_state_change,
        NODE_HEALTH: _of_node_health,
    }.get(event["detail-type"])
    return None if reader is None else reader(event)


def _of_cluster_event(event: Event) -> Finding | None:
    details = event["detail"]["EventDetails"]
    description = details.get("Description") or ""
    what = {
        "Error": What.FAILURE,
        "Warn": What.READINESS if _READINESS.search(description) else None,
    }.get(details.get("EventLevel", ""))
    if what is None:
        return None
    return Finding(
        what=what,
        cluster_arn=details["ClusterArn"],
        time=details["EventTime"] / _MILLISECONDS,
        description=description,
        # The members are there in EventBridge, and null: hyperpod-mental-model.md.
        text=failure_message({"EventDetails": details}) or "",
        event_id=details["EventId"],
        group=details.get("InstanceGroupName") or None,
        instance=details.get("InstanceId") or None,
        was_whole=_was_whole(description),
    )


def _was_whole(description: str) -> bool:
    counts = _COUNTS.search(description)
    return counts is not None and int(counts["lost"]) + int(counts["ready"]) >= int(counts["all"])


def _of_state_change(event: Event) -> Finding:
    detail = event["detail"]
    return Finding(
        what=What.STATUS,
        cluster_arn=detail["ClusterArn"],
        time=_time_of(event),
        status=detail["ClusterStatus"],
        text=detail.get("FailureMessage") or "",
    )


def _of_node_health(event: Event) -> Finding:
    detail = event["detail"]
    health = detail["HealthSummary"]
    is_faulty = health["HealthStatus"] == "Unhealthy"
    return Finding(
        what=What.FAULTY if is_faulty else What.HEALTHY,
        cluster_arn=detail["ClusterArn"],
        time=_time_of(event),
        description=health.get("HealthStatusReason") or "",
        instance=detail["InstanceId"],
        repair=health.get("RepairAction") or "None",
    )


HEALTH_STREAMS = "SagemakerHealthMonitoringAgent/"
"""How the streams of the health-monitoring agent begin: group and instance follow."""
HEALTH_EVENTS = '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'
"""The records of what it has detected:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
"""
# Of the application, not the node: HyperPod repairs nothing.
_OF_APPLICATION = "XidUserAppError"


def finding_of_record(
    record: Mapping[str, Any], *, cluster_arn: str, recovers: bool
) -> Finding | None:
    """Return what a record of the agent says, as CloudWatch Logs has it; None of an application.

    Its forms: awslabs/awsome-distributed-ai, hma_cw_bridge.py, by which HyperPod replaces a node
    of Slurm unless its recovery is off. One that is not JSON, as of a line that was cut, says
    nothing.
    """
    try:
        said = {key.strip(": "): value for key, value in json.loads(record["message"]).items()}
    except ValueError:
        return None
    details = said.get("details") or said.get("condition details") or {}
    if details.get("reason") == _OF_APPLICATION:
        return None
    words = [details.get("message") or said.get("msg", ""), said.get("condition", "")]
    if said.get("data"):
        words.append(json.dumps(said["data"]))
    _, group, instance = record["logStreamName"].split("/")
    return Finding(
        what=What.FAULTY,
        cluster_arn=cluster_arn,
        time=record["timestamp"] / _MILLISECONDS,
        description=" ".join(str(word).strip() for word in words if word),
        group=group,
        instance=instance,
        repair="Replace" if recovers else "None",
    )


def _time_of(event: Event) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()
