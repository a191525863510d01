"""The events of a cluster, each with its cause and what to do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, zip_longest

from rich.console import RenderableType

from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.operate.clusters import DescribedCluster, items
from hyperpod_cli.operate.events.faults import (
    Event,
    Level,
    each_once,
    is_scaling_warning,
    level_of,
    without_misleading,
)
from hyperpod_cli.terminal.console import Indented, in_utc, styled
from hyperpod_shared.failures import LIFECYCLE_SCRIPT, UNKNOWN, ReportedFailure, failure_message

# Limits the calls of one look at a large cluster: each cause costs one.
_MOST_READ = 1000
_MOST_DESCRIBED = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterEvent:
    """Something that happened to a cluster.

    Attributes:
        time: When, in UTC.
        group: The instance group; empty for the cluster itself.
        cause: Why, in AWS's words; may be empty.
        kind: The kind of cause, such as capacity; may be empty.
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

    An event whose cause was not asked for is of the kind of the newest that says the same.
    """
    kinds: dict[tuple[str, ...], list[ClusterEvent]] = {}
    known: dict[tuple[str, ...], str] = {}
    for event in events:
        says = (event.level, event.group, event.description)
        why = event.kind or event.cause
        what = why or known.get(says, event.description)
        known.setdefault(says, what)
        kinds.setdefault((event.level, event.group, what), []).append(event)
    return [replace(same[0], times=len(same)) for same in kinds.values()]


def events_of(
    sagemaker: AwsClient,
    cluster: DescribedCluster,
    *,
    since: datetime,
    least: Level,
    group: str | None = None,
    causes: dict[str, str] | None = None,
) -> list[ClusterEvent]:
    """Return the events of a cluster, newest first; those of one fault once.

    Those of a group alone, if one is given. `causes` has causes by the IDs of events from earlier
    looks; those found are added. Only a cluster in Continuous mode has events:

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListClusterEvents.html
    """
    if not cluster.is_continuous:
        return []
    asked = {
        "ClusterName": cluster.name,
        "SortBy": "EventTime",
        "SortOrder": "Descending",
        "EventTimeAfter": since,
        **({"InstanceGroupName": group} if group else {}),
    }
    listed = [*islice(items(sagemaker, "list_cluster_events", "Events", **asked), _MOST_READ)]
    levels = [*Level][[*Level].index(least) :]
    telling = without_misleading(listed, cluster.groups)
    faults = each_once([event for event in telling if level_of(event) in levels])
    return list(_explained(sagemaker, cluster, faults, {} if causes is None else causes))


def _explained(
    sagemaker: AwsClient,
    cluster: DescribedCluster,
    events: Sequence[Event],
    causes: dict[str, str],
) -> Iterator[ClusterEvent]:
    unknown = [event for event in events if event["EventId"] not in causes and _has_cause(event)]
    for event in [*_fairly(unknown)][:_MOST_DESCRIBED]:
        causes[event["EventId"]] = _cause(sagemaker, cluster, event)
    for event in events:
        yield _event(event, cluster, cause=causes.get(event["EventId"], ""))


def _has_cause(event: Event) -> bool:
    # What it names as the cause of a warning of scaling is none.
    return level_of(event) != Level.INFO and not is_scaling_warning(event.get("Description", ""))


def _fairly(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the newest of each kind, then the next of each: one group may fail very often."""
    alike: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        says = (level_of(event), event.get("InstanceGroupName", ""), event.get("Description", ""))
        alike.setdefault(says, []).append(event)
    for row in zip_longest(*alike.values()):
        yield from (event for event in row if event is not None)


def _cause(sagemaker: AwsClient, cluster: DescribedCluster, event: Event) -> str:
    answer = answer_of(
        sagemaker.describe_cluster_event, ClusterName=cluster.name, EventId=event["EventId"]
    )
    # Events are not kept for ever.
    return "" if answer is None else failure_message(answer) or ""


def _event(event: Event, cluster: DescribedCluster, *, cause: str) -> ClusterEvent:
    reported = ReportedFailure(
        text=cause, group=event.get("InstanceGroupName"), instance=event.get("InstanceId")
    )
    explained = bool(cause) and reported.cause is not UNKNOWN
    return ClusterEvent(
        id=event["EventId"],
        time=in_utc(event["EventTime"]),
        level=level_of(event),
        group=event.get("InstanceGroupName", ""),
        node=event.get("InstanceId", ""),
        description=event.get("Description", ""),
        cause=cause,
        kind=reported.cause.name if cause else "",
        next_step=_next_step(reported, cluster) if explained else "",
    )


def _next_step(reported: ReportedFailure, cluster: DescribedCluster) -> str:
    step = reported.next_step(cluster.described)
    if reported.cause is LIFECYCLE_SCRIPT and reported.instance:
        return f"{step} To read it: hyperpod-cdk logs {reported.instance}"
    return step


_STYLES = {"Error": "red", "Warn": "yellow"}


def event_lines(event: ClusterEvent) -> Iterator[RenderableType]:
    """Yield what happened, below that why, and what to do."""
    where = " ".join(part for part in (event.group, event.node) if part)
    head = styled(f"{event.time} ")
    head.append_text(styled(event.level, _STYLES.get(event.level, "")))
    head.append_text(styled(f" {where}" if where else ""))
    head.append(f" ({event.times} times)" if event.times > 1 else "")
    yield head
    for line in filter(None, (event.why or event.description, event.next_step)):
        yield Indented(text=line)
