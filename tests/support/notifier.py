"""A cluster, its events and those whom it tells, for the tests of the notifier."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from botocore.exceptions import ClientError

from hyperpod_shared.clusters import CLUSTER_EVENT, NODE_HEALTH, STATE_CHANGE
from notifier.handler import SCHEDULED, Notifier

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
NAME, NODE, EKS = "ml-cluster", "i-0123456789abcdef0", "ml-eks"
HEALTH_LOGS = f"/aws/sagemaker/Clusters/{NAME}/"
NOW = 1_800_000_000.0
CAPACITY = (
    "We currently do not have sufficient capacity to launch new ml.p5.48xlarge instances. Please "
    "try again."
)
NOTHING = "Request to service failed. If failure persists after retry, contact customer support."


def described(
    *, status: str = "InService", current: int = 2, target: int = 2, **members: object
) -> dict[str, Any]:
    """Return DescribeCluster's answer for a cluster with one group, `gpu`."""
    group = {
        "InstanceGroupName": "gpu",
        "Status": "InService",
        "CurrentCount": current,
        "TargetCount": target,
    }
    return {
        "ClusterArn": ARN,
        "ClusterName": NAME,
        "ClusterStatus": status,
        "InstanceGroups": [group],
        **members,
    }


def cluster_event(
    number: int = 1,
    *,
    level: str = "Error",
    description: str = f"Failed to provision EC2 Instance in Cluster {NAME} and InstanceGroup gpu",
    time: float = NOW,
    group: str | None = "gpu",
) -> dict[str, Any]:
    """Return an event as EventBridge delivers it: with an id of its own, and without the cause."""
    empty = {"Cluster": None, "Instance": {"FailureMessage": None}, "InstanceGroup": None}
    details = {
        "EventId": f"83ea0bb5-be77-45e8-a458-{number:012}",
        "ClusterArn": ARN,
        "ClusterName": NAME,
        "ResourceType": "Instance",
        "EventTime": int(time * 1000),
        "EventLevel": level,
        "Description": description,
        "EventDetails": {"EventMetadata": empty},
        "InstanceGroupName": group,
    }
    return {
        "id": f"bridge-{number}",
        **_envelope(CLUSTER_EVENT),
        "detail": {"EventDetails": details},
    }


def state_change(status: str, *, failure: str = "", time: float = NOW) -> dict[str, Any]:
    """Return the event of a change of the cluster's status."""
    detail = {
        "ClusterArn": ARN,
        "ClusterName": NAME,
        "ClusterStatus": status,
        "FailureMessage": failure,
    }
    return {**_envelope(STATE_CHANGE, time=time), "detail": detail}


def node_health(status: str, *, repair: str = "Replace", time: float = NOW) -> dict[str, Any]:
    """Return the event of a node's health."""
    summary = {
        "HealthStatus": status,
        "HealthStatusReason": "NvidiaErrorTerminate",
        "RepairAction": repair,
        "Recommendation": "",
    }
    detail = {
        "ClusterArn": ARN,
        "ClusterName": NAME,
        "InstanceId": NODE,
        "HealthSummary": summary,
    }
    return {**_envelope(NODE_HEALTH, time=time), "detail": detail}


def health_record(*, reason: str = "", said: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a record of the health-monitoring agent of the node, as CloudWatch Logs has it."""
    details: Mapping[str, object] = said or {
        "details: ": {"reason": reason, "message": "NVRM: Xid 74"}
    }
    message = {"level": "info", "HealthMonitoringAgentDetectionEvent": "HealthEvent", **details}
    return {
        "logStreamName": f"SagemakerHealthMonitoringAgent/gpu/{NODE}",
        "timestamp": int(NOW * 1000),
        "message": json.dumps(message),
    }


LOOK: Mapping[str, Any] = {"detail-type": SCHEDULED, "source": "aws.events", "detail": {}}
"""What the schedule sends."""


def _envelope(detail_type: str, *, time: float = NOW) -> dict[str, Any]:
    return {
        "detail-type": detail_type,
        "source": "aws.sagemaker",
        "time": datetime.fromtimestamp(time, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def refused(code: str) -> ClientError:
    """Return an error of AWS's."""
    return ClientError({"Error": {"Code": code, "Message": code}}, "Operation")


def _answered(what: dict[str, Any] | Exception) -> dict[str, Any]:
    if isinstance(what, Exception):
        raise what
    return what


@dataclass
class Cluster:
    """A cluster, as the function's clients see it; AWS's answers, and what was published."""

    cluster: dict[str, Any] | Exception | None = field(default_factory=described)
    causes: dict[str, str] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=lambda: {NODE})
    log: list[dict[str, Any]] = field(default_factory=list)
    plan_end: Any = None
    node_groups: dict[str, dict[str, Any] | Exception] = field(default_factory=dict)
    records: list[dict[str, Any]] | None = None
    has_events: bool = True
    refusals: Iterator[str] = field(default_factory=lambda: iter(()))
    now: float = NOW
    sent: list[dict[str, Any]] = field(default_factory=list)
    asleep: Callable[[], None] = lambda: None
    breaks: Iterator[bool] = field(default_factory=lambda: iter(()))

    def describe_cluster(self, **_request: object) -> Mapping[str, Any]:
        if self.cluster is None:
            raise refused("ResourceNotFound")
        # AWS need not answer the name, which the caller has.
        return {
            key: value for key, value in _answered(self.cluster).items() if key != "ClusterName"
        }

    def describe_cluster_event(self, *, ClusterName: str, EventId: str) -> Mapping[str, Any]:
        assert ClusterName == NAME
        refusal = next(self.refusals, None if self.has_events else "ValidationException")
        if refusal is not None:
            raise refused(refusal)
        message = self.causes.get(EventId)
        metadata = {"Instance": {"FailureMessage": message}, "Cluster": None}
        return {"EventDetails": {"EventDetails": {"EventMetadata": metadata}}}

    def list_cluster_events(self, **_request: object) -> Mapping[str, Any]:
        return {"Events": self.log} if self.log else {}

    def describe_cluster_node(self, *, ClusterName: str, NodeId: str) -> Mapping[str, Any]:
        assert ClusterName == NAME
        if NodeId not in self.nodes:
            raise refused("ValidationException")
        return {"NodeDetails": {"InstanceId": NodeId, "InstanceGroupName": "gpu"}}

    def describe_training_plan(self, *, TrainingPlanName: str) -> Mapping[str, Any]:
        if isinstance(self.plan_end, str):
            raise refused(self.plan_end)
        return {"TrainingPlanName": TrainingPlanName, "EndTime": self.plan_end}

    def describe_nodegroup(self, *, clusterName: str, nodegroupName: str) -> Mapping[str, Any]:
        assert clusterName == EKS
        if nodegroupName not in self.node_groups:
            raise refused("ResourceNotFoundException")
        return {"nodegroup": _answered(self.node_groups[nodegroupName])}

    def get_paginator(self, operation: str) -> Self:
        assert operation == "filter_log_events"
        return self

    def paginate(self, *, logGroupName: str, **_request: object) -> Iterator[dict[str, Any]]:
        if self.records is None:
            raise refused("ResourceNotFoundException")
        assert logGroupName == f"{HEALTH_LOGS}abcdefghij12"
        yield from ({}, {"events": self.records})

    def publish(self, **request: Any) -> Mapping[str, Any]:
        if next(self.breaks, False):
            raise refused("InternalError")
        self.sent.append(request)
        return {"MessageId": str(len(self.sent))}

    def knows(self, number: int, cause: str) -> None:
        """Let the cluster's log know the cause of an event."""
        self.causes[f"83ea0bb5-be77-45e8-a458-{number:012}"] = cause

    @property
    def told(self) -> list[str]:
        """What was published: the kind and the cause of each message."""
        return [
            f"{each['MessageAttributes']['kind']['StringValue']}: "
            f"{each['MessageAttributes']['cause']['StringValue']}"
            for each in self.sent
        ]


def notifier(cluster: Cluster, dynamodb: Any, *, table: str = "told") -> Notifier:  # noqa: ANN401
    """Return a notifier of a cluster that remembers in a table."""
    return Notifier(
        sagemaker=cluster,
        eks=cluster,
        node_groups=[(EKS, name) for name in ("gone", *cluster.node_groups)],
        dynamodb=dynamodb,
        sns=cluster,
        logs=cluster,
        health_logs=HEALTH_LOGS,
        cluster=NAME,
        table=table,
        topic_arn="arn:aws:sns:us-west-2:111122223333:told",
        patience=3600,
        clock=lambda: cluster.now,
        sleep=lambda _seconds: cluster.asleep(),
    )
