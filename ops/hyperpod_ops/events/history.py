"""The events of a cluster, each with its cause and what to do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from botocore.exceptions import ClientError

from hyperpod_ops.aws_client import AwsClient
from hyperpod_ops.clusters.cluster import HyperPodCluster
from hyperpod_ops.events.faults import (
    Event,
    each_once,
    is_scaling_warning,
    without_misleading,
)
from hyperpod_ops.events.levels import Level
from hyperpod_ops.times import in_utc
from provisioner.aws.errors import is_not_found
from provisioner.hyperpod.causes import UNKNOWN
from provisioner.hyperpod.events import failure_message
from provisioner.hyperpod.failures import ReportedFailure
from provisioner.hyperpod.shortage import CONTINUOUS

# Limits the calls of one look at a large cluster: each cause costs one.
_MOST_READ = 1000
_MOST_DESCRIBED = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterEvent:
    """Something that happened to a cluster.

    Attributes:
        id: SageMaker's ID of the event.
        time: When, in UTC.
        level: Info, Warn or Error.
        group: The instance group; empty for the cluster itself.
        node: The instance; may be empty.
        description: What happened.
        cause: Why, in AWS's words; may be empty.
        kind: The kind of cause, such as capacity; may be empty.
        next_step: What to do; may be empty.
        times: How often it happened, if what happened again is not told again.
    """

    id: str
    time: str
    level: str
    group: str
    node: str
    description: str
    cause: str
    kind: str
    next_step: str
    times: int = 1

    @property
    def why(self) -> str:
        """The kind of cause, and the cause."""
        return ": ".join(part for part in (self.kind, self.cause) if part)


def each_kind(events: Sequence[ClusterEvent]) -> list[ClusterEvent]:
    """Return the newest event of each kind, with how many there are: launches are retried.

    Args:
        events: Newest first.
    """
    kinds: dict[tuple[str, ...], list[ClusterEvent]] = {}
    for event in events:
        what = event.kind or event.cause or event.description
        kinds.setdefault((event.level, event.group, what), []).append(event)
    return [replace(same[0], times=len(same)) for same in kinds.values()]


def events_of(
    sagemaker: AwsClient,
    cluster: HyperPodCluster,
    *,
    since: datetime,
    least: Level = Level.INFO,
    group: str | None = None,
    most: int = _MOST_READ,
    causes: dict[str, str] | None = None,
) -> list[ClusterEvent]:
    """Return the events of a cluster, newest first; those of one fault once.

    Args:
        sagemaker: Client of SageMaker.
        cluster: The cluster; only one in Continuous mode has events.
        since: Older events are left out.
        least: The lowest level.
        group: Name of an instance group. Default: all, and the cluster itself.
        most: How many events at most.
        causes: Causes by the IDs of events, from an earlier look; those found are added.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    if not has_events(cluster):
        return []
    asked = {
        "ClusterName": cluster.name,
        "SortBy": "EventTime",
        "SortOrder": "Descending",
        "EventTimeAfter": since,
        **({"InstanceGroupName": group} if group else {}),
    }
    pages = sagemaker.get_paginator("list_cluster_events").paginate(**asked)
    listed = islice((event for page in pages for event in page.get("Events", ())), _MOST_READ)
    levels = [*Level][[*Level].index(least) :]
    grave = [event for event in listed if event["EventLevel"] in levels]
    told = each_once(without_misleading(grave, cluster.groups))[:most]
    return list(_explained(sagemaker, cluster, told, {} if causes is None else causes))


def has_events(cluster: HyperPodCluster) -> bool:
    """Say whether a cluster has events at all.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListClusterEvents.html
    """
    return cluster.described.get("NodeProvisioningMode") == CONTINUOUS


def _explained(
    sagemaker: AwsClient,
    cluster: HyperPodCluster,
    events: Sequence[Event],
    causes: dict[str, str],
) -> Iterator[ClusterEvent]:
    left = _MOST_DESCRIBED
    for event in events:
        known = causes.get(event["EventId"])
        # Such a warning names a cause that is not one.
        misleads = is_scaling_warning(event.get("Description", ""))
        if known is None and left and event["EventLevel"] != Level.INFO and not misleads:
            left -= 1
            known = causes[event["EventId"]] = _cause(sagemaker, cluster, event)
        yield _event(event, cluster, cause=known or "")


def _cause(sagemaker: AwsClient, cluster: HyperPodCluster, event: Event) -> str:
    try:
        answer = sagemaker.describe_cluster_event(
            ClusterName=cluster.name, EventId=event["EventId"]
        )
    except ClientError as error:
        if is_not_found(error):  # it is older than events are kept
            return ""
        raise
    return failure_message(answer) or ""


def _event(event: Event, cluster: HyperPodCluster, *, cause: str) -> ClusterEvent:
    reported = ReportedFailure(
        text=cause, group=event.get("InstanceGroupName"), instance=event.get("InstanceId")
    )
    explained = bool(cause) and reported.cause is not UNKNOWN
    return ClusterEvent(
        id=event["EventId"],
        time=in_utc(event["EventTime"]),
        level=event["EventLevel"],
        group=event.get("InstanceGroupName", ""),
        node=event.get("InstanceId", ""),
        description=event.get("Description", ""),
        cause=cause,
        kind=reported.cause.name if cause else "",
        next_step=reported.next_step(cluster.described) if explained else "",
    )
