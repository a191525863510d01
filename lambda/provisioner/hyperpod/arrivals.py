"""How far the nodes of a cluster have come, and whether waiting for the others is of use.

DescribeCluster's CurrentCount says how many instances a group has, not whether their lifecycle
script has ended; a node's status does. With continuous provisioning HyperPod tries for ever, so
what shows that waiting brings nothing is that each missing node was tried twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hyperpod_shared.clusters import (
    Described,
    Group,
    NodeStatus,
    groups_of,
    is_updated,
    nodes_needed,
)
from hyperpod_shared.failures import LIFECYCLE_SCRIPT, ReportedFailure

Node = Mapping[str, object]
"""An entry of ListClusterNodes."""
_NOT_THERE = frozenset(
    {
        NodeStatus.DEEP_HEALTH_CHECK,
        NodeStatus.FAILURE,
        NodeStatus.NOT_FOUND,
        NodeStatus.PENDING,
        NodeStatus.SHUTTING_DOWN,
    }
)
_ATTEMPTS = 2
# Deep health checks take up to hours; what is wrong at first sight shows sooner.
_CHECK_PATIENCE_SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What is known of the nodes beside the description of the cluster.

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

    def are_settled(self, described: Described, *, now: float) -> bool:
        """Say whether waiting any longer would hardly tell more."""
        return not any(map(is_updated, groups_of(described).values())) and all(
            self._is_settled(name, lacking, now) for name, lacking in self.short_groups(described)
        )

    def without_script(self, described: Described, *, late: bool) -> list[str]:
        """Return the groups of which every node failed in its lifecycle script.

        Args:
            described: DescribeCluster's answer.
            late: Whether there is no time to see each missing node tried twice.
        """
        groups = groups_of(described)
        return [
            name
            for name, _ in self.short_groups(described)
            if self.there(name, groups[name]) == 0
            and not self.checked(name)
            and self._only_scripts_failed(name)
            and (late or self._was_tried(name, groups[name]["TargetCount"]))
        ]

    def _of(self, name: str) -> list[Node]:
        return [node for node in self.nodes or () if node["InstanceGroupName"] == name]

    def _is_settled(self, name: str, lacking: int, now: float) -> bool:
        launched = [_seconds(node["LaunchTime"]) for node in self.checked(name)]
        long_checked = sum(now >= time + _CHECK_PATIENCE_SECONDS for time in launched)
        return long_checked >= lacking or self._was_tried(name, lacking)

    def _was_tried(self, name: str, lacking: int) -> bool:
        return self.attempts.get(name, 0) >= _ATTEMPTS * lacking

    def _only_scripts_failed(self, name: str) -> bool:
        # A failure without an instance, such as lack of capacity, is not about a script.
        of_nodes = [one for one in self.failures_of(name) if one.instance]
        return bool(of_nodes) and all(one.cause is LIFECYCLE_SCRIPT for one in of_nodes)


def _status(node: Node) -> object:
    status = node["InstanceStatus"]
    return status["Status"] if isinstance(status, Mapping) else None


def _seconds(time: object) -> float:
    return time.timestamp() if isinstance(time, datetime) else float(str(time))
