"""How far the nodes of a cluster have come, whether waiting for the others is of use.

DescribeCluster's CurrentCount says how many instances a group has, not whether their lifecycle
script has ended; a node's status does. With continuous provisioning HyperPod tries for ever, so
what shows that waiting brings nothing is that each missing node was tried twice.

A deployment that succeeds reports the nodes it did not get: a line for each group.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hyperpod_shared.clusters import (
    ClusterStatus,
    Described,
    Group,
    NodeStatus,
    awaits_plan,
    groups_of,
    is_updated,
    nodes_needed,
    updated_groups,
)
from hyperpod_shared.errors import shortened
from hyperpod_shared.failures import LIFECYCLE_SCRIPT, UNKNOWN, ReportedFailure, own_message

Node = Mapping[str, Any]
"""An entry of ListClusterNodes."""
_NOT_THERE = frozenset({None, *NodeStatus})
_ATTEMPTS = 2
# Deep health checks take up to hours; what is wrong at first sight shows sooner.
_CHECK_PATIENCE_SECONDS = 900.0
NOTHING_SHORT = "none"
_MOST_SHORTAGES = 3
# The whole response to CloudFormation must fit into 4,096 bytes.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
_REPORT_BYTES = 2000
_CAUSE_BYTES = 250
_STEP_BYTES = 300
_LAST_LINE_BYTES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What is known of the nodes besides the description of the cluster.

    Attributes:
        nodes: The cluster's nodes; None if they are not known.
        unlisted: Why they could not be listed, and what to do; empty unless that was tried.
        failures: What the newest errors since the request say, newest first.
        attempts: How many launches of each group failed since.
    """

    nodes: Sequence[Node] | None = None
    unlisted: str = ""
    failures: Sequence[ReportedFailure] = ()
    attempts: Mapping[str, int] = field(default_factory=dict)

    def there(self, name: str, group: Group) -> int:
        """Return how many nodes of a group work."""
        if self.nodes is None:
            return int(group.get("CurrentCount", 0))
        return sum(_status(node) not in _NOT_THERE for node in self._of(name))

    def is_short(self, name: str, group: Group) -> bool:
        """Say whether a group has fewer nodes than were asked for."""
        return self.there(name, group) < int(group.get("TargetCount", 0))

    def checked(self, name: str) -> Sequence[Node]:
        """Return the nodes of a group that are in deep health checks."""
        nodes = self._of(name)
        return [node for node in nodes if _status(node) == NodeStatus.DEEP_HEALTH_CHECK]

    def failures_of(self, name: str | None) -> list[ReportedFailure]:
        """Return what errors say of a group, or of the cluster itself, newest first."""
        return [one for one in self.failures if one.group == name]

    def short_groups(self, described: Described) -> Iterator[tuple[str, int]]:
        """Yield each group that has fewer nodes than it needs, and how many are missing."""
        for name, group in groups_of(described).items():
            lacking = nodes_needed(group) - self.there(name, group)
            if lacking > 0:
                yield name, lacking

    def shortages(self, described: Described) -> list[str]:
        """Return which groups have fewer nodes than they need, in a few short texts."""
        groups = groups_of(described)
        short = [
            f"group {name} has {needed - lacking} of {needed} nodes"
            for name, lacking in self.short_groups(described)
            if (needed := nodes_needed(groups[name]))
        ]
        listed, others = short[:_MOST_SHORTAGES], len(short) - _MOST_SHORTAGES
        return [*listed, f"{others} more groups are short of nodes"] if others > 0 else listed

    def are_settled(self, described: Described, *, now: float) -> bool:
        """Say whether waiting any longer would hardly tell more."""
        return not any(map(is_updated, groups_of(described).values())) and all(
            self._is_settled(name, lacking, now) for name, lacking in self.short_groups(described)
        )

    def without_script(self, described: Described, *, late: bool) -> list[str]:
        """Return the groups of which every node failed in its lifecycle script.

        `late` says that there is no time to see each missing node tried twice.
        """
        groups = groups_of(described)
        return [
            name
            for name, _ in self.short_groups(described)
            if self.there(name, groups[name]) == 0
            and not self.checked(name)
            and self._only_scripts_failed(name)
            and (late or self._was_tried(name, groups[name].get("TargetCount", 1)))
        ]

    def _of(self, name: str) -> list[Node]:
        return [node for node in self.nodes or () if node["InstanceGroupName"] == name]

    def _is_settled(self, name: str, lacking: int, now: float) -> bool:
        launched = [node["LaunchTime"].timestamp() for node in self.checked(name)]
        long_checked = sum(now >= time + _CHECK_PATIENCE_SECONDS for time in launched)
        return long_checked >= lacking or self._was_tried(name, lacking)

    def _was_tried(self, name: str, lacking: int) -> bool:
        return self.attempts.get(name, 0) >= _ATTEMPTS * lacking

    def _only_scripts_failed(self, name: str) -> bool:
        # A failure without an instance, such as lack of capacity, is not about a script.
        of_nodes = [one for one in self.failures_of(name) if one.instance]
        return bool(of_nodes) and all(one.cause is LIFECYCLE_SCRIPT for one in of_nodes)


def _status(node: Node) -> object:
    status = node.get("InstanceStatus")
    return status["Status"] if isinstance(status, Mapping) else None


def shortage_report(described: Described, arrivals: Arrivals, *, now: float, note: str = "") -> str:
    """Return what is short at the end of a deployment, or that nothing is."""
    groups = groups_of(described)
    facts = [note] if note else []
    if described["ClusterStatus"] != ClusterStatus.IN_SERVICE:
        facts.append(f"the cluster is {described['ClusterStatus']}")
        own = own_message(described)
        facts += [str(own)] if own else []
    facts += updated_groups(described)
    facts += [arrivals.unlisted] if arrivals.unlisted else []
    short = [name for name, group in groups.items() if arrivals.is_short(name, group)]
    if not (facts or short):
        return NOTHING_SHORT
    lines = [_head(described, now=now)]
    lines += [shortened(f"{fact}.", _CAUSE_BYTES) for fact in facts]
    return "\n".join(_that_fit([*lines, *(_line(name, described, arrivals) for name in short)]))


def _head(described: Described, *, now: float) -> str:
    time = datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    command = f"aws sagemaker describe-cluster --cluster-name {described.get('ClusterName')}"
    return f"As of {time}, HyperPod keeps trying. For the current state: {command}"


def _line(name: str, described: Described, arrivals: Arrivals) -> str:
    group = groups_of(described)[name]
    counts = f"{name}: {arrivals.there(name, group)} of {group.get('TargetCount', 0)} nodes"
    failures = arrivals.failures_of(name) or arrivals.failures_of(None)
    checked = len(arrivals.checked(name))
    if failures:
        failure = next((one for one in failures if one.cause is not UNKNOWN), failures[0])
        cause = shortened(str(failure.within_group()).rstrip(". "), _CAUSE_BYTES)
        step = shortened(failure.next_step(described), _STEP_BYTES)
    elif checked:
        cause = f"{checked} in deep health checks, which can take hours"
        step = "They join by themselves when they pass."
    elif awaits_plan(group):
        cause = "its training plan has not begun"
        step = "They are launched by themselves when it begins."
    else:
        cause = "HyperPod has reported no error"
        step = "Wait, then run the command above."
    return f"{counts}: {cause}. {step}"


def _that_fit(lines: list[str]) -> Iterator[str]:
    room = _REPORT_BYTES - _LAST_LINE_BYTES
    for number, line in enumerate(lines):
        room -= len(line.encode()) + len("\\n")
        if room < 0:
            yield f"{len(lines) - number} more groups are short of nodes."
            return
        yield line
