"""HyperPod's calls on one cluster, with retries; how far its nodes have come, and what went wrong.

Only a cluster in Continuous mode has error events.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeVar

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    code,
    is_denied,
    is_not_found,
    may_be_taken,
    or_none,
)
from hyperpod_shared.clusters import (
    CONTINUOUS,
    GROUP_LISTS,
    ClusterInput,
    ClusterStatus,
    Described,
    groups_of,
)
from hyperpod_shared.errors import UnreachableError
from hyperpod_shared.failures import ReportedFailure, failure_message
from hyperpod_shared.governance import GovernanceStatus, Noun
from provisioner.framework import log
from provisioner.framework.retry import aws_pages, aws_patience, aws_retried, retried
from provisioner.framework.turn import Turn
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import user_tags
from provisioner.hyperpod.look import Look

T = TypeVar("T")

_NODES_A_PAGE = 100
_GONE = frozenset({GovernanceStatus.DELETED, GovernanceStatus.DELETING})


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodApi:
    """One cluster, by name. Each method raises the error with which SageMaker refuses its call.

    If patient, it retries what may pass with time; else the caller comes back later. `lost` has the
    errors that do not say whether SageMaker took a call.
    """

    sagemaker: AwsClient
    name: str
    turn: Turn
    patient: bool
    lost: list[Exception] = field(default_factory=list)

    def describe(self) -> tuple[Described, dict[str, str]]:
        """Return DescribeCluster's answer and the tags; both empty if there is no such cluster."""
        describe = partial(self.sagemaker.describe_cluster, ClusterName=self.name)
        described = or_none(lambda: self._call(describe))
        if described is None:
            return {}, {}
        lacks = "" if described.get("ClusterStatus") else "status"
        if all(described.get(key) is None for key in GROUP_LISTS):
            lacks = lacks or "instance groups"
        if lacks:
            raise UnreachableError(
                f"SageMaker describes the HyperPod cluster {self.name} without its {lacks}",
                next_step="See the AWS Health Dashboard, then deploy again.",
            )
        tags = or_none(lambda: self._tags(described["ClusterArn"]))
        # Not visible there yet, unless it went between the two calls.
        gone = tags is None and described["ClusterStatus"] == ClusterStatus.DELETING
        # The answer need not have the name.
        return {} if gone else {"ClusterName": self.name, **described}, tags or {}

    def create(self, cluster: ClusterInput, marks: Mapping[str, str]) -> str:
        """Create the cluster, with marks among the user's tags, and return its ARN."""
        tags = _as_list({**user_tags(cluster), **marks})
        call = partial(self.sagemaker.create_cluster, **{**cluster, "Tags": tags})
        return str(self._change(call)["ClusterArn"])

    def update(self, changed: Mapping[str, object]) -> None:
        """Change the cluster."""
        self._change(partial(self.sagemaker.update_cluster, ClusterName=self.name, **changed))

    def update_software(self, changed: Mapping[str, object]) -> None:
        """Give groups another AMI; no second time after a lost answer: each wipes root volumes."""
        call = partial(self.sagemaker.update_cluster_software, ClusterName=self.name, **changed)
        self._change(call, patience=lambda one: 0.0 if may_be_taken(one) else aws_patience(one))

    def delete(self) -> None:
        """Delete the cluster; one that is gone already is a success."""
        call = partial(self.sagemaker.delete_cluster, ClusterName=self.name)
        or_none(lambda: self._change(call))

    def tag(self, arn: str, add: Mapping[str, str], remove: Sequence[str] = ()) -> None:
        """Write or overwrite tags, and remove others."""
        if add:
            call = partial(self.sagemaker.add_tags, ResourceArn=arn, Tags=_as_list(add))
            self._change(call)
        if remove:
            call = partial(self.sagemaker.delete_tags, ResourceArn=arn, TagKeys=list(remove))
            self._change(call)

    def nodes(self, *, patient: bool = False) -> list[Mapping[str, Any]]:
        """Return the nodes; if patient, with retries in any case."""
        listing = partial(
            self.sagemaker.list_cluster_nodes, ClusterName=self.name, MaxResults=_NODES_A_PAGE
        )
        pages = aws_pages(listing, call=partial(self._call, patient=patient))
        return [node for page in pages for node in page.get("ClusterNodeSummaries", ())]

    def _tags(self, arn: str) -> dict[str, str]:
        pages = aws_pages(partial(self.sagemaker.list_tags, ResourceArn=arn), call=self._call)
        return {tag["Key"]: tag["Value"] for page in pages for tag in page.get("Tags", ())}

    def _call(self, call: Callable[[], T], *, patient: bool = False) -> T:
        return aws_retried(call, clock=self.turn.clock) if self.patient or patient else call()

    def _change(
        self, call: Callable[[], T], *, patience: Callable[[Exception], float] = aws_patience
    ) -> T:
        def attempt() -> T:
            self.turn.require()
            try:
                return call()
            except AWS_ERRORS as error:
                if may_be_taken(error):
                    self.lost.append(error)
                raise

        if not self.patient:
            return attempt()
        return retried(attempt, errors=AWS_ERRORS, patience=patience, clock=self.turn.clock)


def _as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def governance_of(api: HyperPodApi, arn: str) -> Sequence[str]:
    """Name what governs a cluster; nothing when it cannot be found out."""
    try:
        return [
            f"{noun.words} {name}" for noun in reversed(Noun) for name in _names(api, noun, arn)
        ]
    except AWS_ERRORS as error:
        log.warning("task governance not known", cluster=api.name, cause=str(error))
        return ()


def _names(api: HyperPodApi, noun: Noun, arn: str) -> Iterator[str]:
    listing = partial(getattr(api.sagemaker, noun.operation("list")), ClusterArn=arn)
    for page in aws_pages(listing, call=lambda once: once()):
        found = page.get(f"{noun}Summaries", ())
        yield from (item["Name"] for item in found if item["Status"] not in _GONE)


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
    """Return what an event reports, with the cause, which the list of events does not tell."""
    cause = None
    try:
        cause = failure_message(
            api.sagemaker.describe_cluster_event(ClusterName=api.name, EventId=event["EventId"])
        )
    except AWS_ERRORS as error:
        log.warning("no event details", cluster=api.name, cause=str(error))
    return ReportedFailure(
        text=cause or event.get("Description", ""),
        group=event.get("InstanceGroupName"),
        instance=event.get("InstanceId"),
    )


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


def arrivals_of(look: Look, *, api: HyperPodApi, last: bool) -> Arrivals:
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
    groups, arrivals, request = groups_of(look.described), Arrivals(), look.request
    if (
        look.works()
        and 0 < sum(group.get("TargetCount", 0) for group in groups.values()) <= _MOST_NODES
    ):
        try:
            arrivals = Arrivals(nodes=api.nodes(patient=last))
        except _UNLISTED as error:
            may_pass = (
                isinstance(error, UnreachableError)
                or is_not_found(error)
                or request.may_succeed_later(error, look.now)
            )
            if may_pass and not last:
                raise
            arrivals = Arrivals(unlisted=_unlisted(api.name, error))
            log.warning("no nodes", cluster=api.name, cause=str(error))
    short = any(arrivals.is_short(name, group) for name, group in groups.items())
    if look.works() and not (short or look.looks_at_database):
        return arrivals
    concerns_nodes = request.makes_a_cluster or look.own is not None
    since = request.begun_at - (0.0 if concerns_nodes else _HINDSIGHT_SECONDS)
    return _with_errors(arrivals, api, look.described, since=since)


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
