"""Finds out how far the nodes of a cluster have come, and what went wrong with them.

Only a cluster in Continuous mode has error events.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any

from hyperpod_shared.aws_errors import AWS_ERRORS, code, is_denied, is_not_found
from hyperpod_shared.cluster_changes import ORCHESTRATOR, requested_value
from hyperpod_shared.clusters import CONTINUOUS, ClusterStatus, Described, groups_of
from hyperpod_shared.errors import UnreachableError
from hyperpod_shared.failures import ReportedFailure, failure_message
from provisioner.framework import log
from provisioner.framework.retry import aws_pages
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.claim import visible_claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.comparison import covers
from provisioner.hyperpod.found import Found

_UNLISTED: tuple[type[Exception], ...] = (*AWS_ERRORS, UnreachableError)
_MOST_NODES = 2000
"""How many nodes a poll can list."""
# A request that concerns no node reports what it finds, and why that came to be.
_HINDSIGHT_SECONDS = 3600.0
Event = Mapping[str, Any]
_EVENTS_A_PAGE = 100
_MOST_PAGES = 5
_MOST_DESCRIBED = 8
# One failed node may be an accident; two of a kind are not.
_MOST_OF_A_KIND = 2
# Events happen on AWS's clock, not on this function's. More would count what the deployment before
# this one got wrong, such as a script that is fixed now.
_CLOCK_SKEW_SECONDS = 2.0


def _with_errors(
    arrivals: Arrivals, api: HyperPodApi, described: Described, *, since: float
) -> Arrivals:
    """Add what went wrong with a cluster, by its events.

    Events explain a failure that is reported in any case, so trouble in getting them must not
    take its place.

    Errors older than `since` are another deployment's.
    """
    if described.get("NodeProvisioningMode") != CONTINUOUS:
        return arrivals
    try:
        events = list(_error_events(api, since))
    except _UNLISTED as error:
        log.warning("no events", cluster=api.name, cause=str(error))
        return arrivals
    failures = tuple(_failure(api, event) for event in _of_each_kind(events))
    return replace(arrivals, failures=failures, attempts=_attempts(events))


def _error_events(api: HyperPodApi, since: float) -> Iterator[Event]:
    listing = partial(
        api.sagemaker.list_cluster_events,
        ClusterName=api.name,
        SortBy="EventTime",
        SortOrder="Descending",
        MaxResults=_EVENTS_A_PAGE,
        EventTimeAfter=since - _CLOCK_SKEW_SECONDS,
    )
    for page in islice(aws_pages(listing, call=lambda once: once()), _MOST_PAGES):
        yield from (event for event in page.get("Events", ()) if event.get("EventLevel") == "Error")


def _failure(api: HyperPodApi, event: Event) -> ReportedFailure:
    return ReportedFailure(
        text=_message(api, event) or event.get("Description", ""),
        group=event.get("InstanceGroupName"),
        instance=event.get("InstanceId"),
    )


def _message(api: HyperPodApi, event: Event) -> str | None:
    """Return the cause, which the list of events does not tell."""
    try:
        answer = api.sagemaker.describe_cluster_event(
            ClusterName=api.name, EventId=event["EventId"]
        )
    except AWS_ERRORS as error:
        log.warning("no event details", cluster=api.name, cause=str(error))
        return None
    return failure_message(answer)


def _of_each_kind(events: Sequence[Event]) -> list[Event]:
    """Return the events to describe: a retried launch repeats its event, and each costs a call.

    The newest of each kind come first, then the second ones, of another instance each.
    """
    kinds: dict[tuple[object, object], dict[object, Event]] = {}
    for event in events:
        kind = (event.get("InstanceGroupName"), event.get("Description"))
        kinds.setdefault(kind, {}).setdefault(event.get("InstanceId"), event)
    several = [list(by_instance.values())[:_MOST_OF_A_KIND] for by_instance in kinds.values()]
    ordered = [event for same in zip_longest(*several) for event in same if event is not None]
    return ordered[:_MOST_DESCRIBED]


def _attempts(events: Sequence[Event]) -> dict[str, int]:
    """Return how many launches of each group failed: HyperPod reports one in several events."""
    counts = Counter((event.get("InstanceGroupName"), event.get("Description")) for event in events)
    attempts: dict[str, int] = {}
    for (name, _), count in counts.items():
        if name is not None:
            attempts[str(name)] = max(count, attempts.get(str(name), 0))
    return attempts


def arrivals_of(found: Found, request: ClusterRequest, *, api: HyperPodApi, last: bool) -> Arrivals:
    """Return how far the nodes have come; where they are not known, the description counts.

    The description may count nodes whose lifecycle script still runs, so it does not stand in for
    a list that another poll may get.

    Errors since the request began are reported. `last` says that no poll follows that could list
    the nodes.

    Raises:
        ClientError: Another poll may list the nodes.
        BotoCoreError: Another poll may list the nodes.
        UnreachableError: Another poll may list the nodes.
    """
    groups, arrivals = groups_of(found.described), Arrivals()
    works = found.status == ClusterStatus.IN_SERVICE
    if works and 0 < sum(group.get("TargetCount", 0) for group in groups.values()) <= _MOST_NODES:
        try:
            arrivals = Arrivals(nodes=api.nodes(patient=last))
        except _UNLISTED as error:
            may_pass = (
                isinstance(error, UnreachableError)
                or is_not_found(error)
                or request.may_succeed_later(error, found.now)
            )
            if may_pass and not last:
                raise
            arrivals = Arrivals(unlisted=_unlisted(api.name, error))
            log.warning("no nodes", cluster=api.name, cause=str(error))
    short = any(arrivals.is_short(name, group) for name, group in groups.items())
    if works and not short and _has_orchestrator(found.described, request):
        return arrivals
    claim = visible_claim(found.tags)
    concerns_nodes = request.makes_a_cluster or bool(claim and claim.last_call)
    since = request.claim.started_at - (0.0 if concerns_nodes else _HINDSIGHT_SECONDS)
    return _with_errors(arrivals, api, found.described, since=since)


def _has_orchestrator(described: Described, request: ClusterRequest) -> bool:
    shown = requested_value(described.get(ORCHESTRATOR) or {})
    return covers(shown, request.wanted.cluster_input.get(ORCHESTRATOR) or {})


def _unlisted(name: str, error: Exception) -> str:
    why = code(error) or type(error).__name__
    if is_denied(error):
        next_step = "Allow the provisioner's role sagemaker:ListClusterNodes, then deploy again"
    else:
        next_step = f"Look again (aws sagemaker list-cluster-nodes --cluster-name {name})"
    return (
        f"the nodes could not be listed ({why}), so nodes may be missing that DescribeCluster "
        f"counts. {next_step}"
    )
