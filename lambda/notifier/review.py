"""What the schedule finds that no event says: what lasts, what is over, what ends soon."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.clusters import ClusterStatus, Described, GroupStatus, present_groups
from notifier.decision import fault_of_node, is_whole, of_group
from notifier.findings import Finding, What

PLAN_WARNING_SECONDS = 24 * 3600
# HyperPod tries a launch that fails again each minute, and counts may drop later than it fails.
_RETRIED_SECONDS = 600.0
_WATCH = "watch/"
_NODE = fault_of_node("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What to do after a look at the cluster.

    What is over is told again if it comes back, what is watched is told if it lasts, and of the
    findings someone may have to be told.
    """

    over: tuple[str, ...]
    watched: tuple[str, ...]
    findings: tuple[Finding, ...]


def nodes_told(known: Mapping[str, float]) -> list[str]:
    """Return the instances that were told as faulty."""
    return [fault.removeprefix(_NODE) for fault in known if fault.startswith(_NODE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the cluster is, and what was told or is watched since when.

    Of the nodes that were told as faulty, `present` are still there; `plan_ends` has when training
    plans end, by ARN; nodes may be missing, or faulty, for `patience` seconds before that is told.
    """

    described: Described
    known: Mapping[str, float]
    present: Collection[str]
    plan_ends: Mapping[str, float]
    now: float
    patience: float

    def review(self) -> Review:
        """Return what follows from it."""
        if self.described["ClusterStatus"] == ClusterStatus.DELETING:
            return Review(over=(), watched=(), findings=())
        watched = (f"{_WATCH}{name}" for name in self._short)
        return Review(
            over=tuple(fault for fault in self.known if self._is_over(fault)),
            watched=tuple(fault for fault in watched if fault not in self.known),
            findings=(
                *self._failed(),
                *self._missing(),
                *self._still_faulty(),
                *self._plans(),
            ),
        )

    @property
    def _groups(self) -> Mapping[str, Mapping[str, Any]]:
        return present_groups(self.described)

    @property
    def _short(self) -> list[str]:
        """The groups that lack nodes, by name."""
        return sorted(name for name, group in self._groups.items() if not is_whole(group))

    def _finding(self, what: What, description: str = "", **members: Any) -> Finding:
        return Finding(
            what=what,
            cluster_arn=self.described["ClusterArn"],
            time=self.now,
            description=description,
            **members,
        )

    def _is_over(self, fault: str) -> bool:
        kind, _, rest = fault.partition("/")
        status = self.described["ClusterStatus"]
        if kind in {"node", "still"}:
            return rest not in self.present
        if kind == "cluster":
            return bool(status == ClusterStatus.IN_SERVICE)
        if kind not in {"watch", "group"}:
            return False
        if kind == "group" and self.now - self.known[fault] < _RETRIED_SECONDS:
            return False  # its count may not have dropped yet, and what fails is tried again
        name = rest.partition("/")[0]
        states = {status, self._groups.get(name, {}).get("Status")} if kind == "group" else set()
        return name not in self._short and not states & {ClusterStatus.FAILED, GroupStatus.FAILED}

    def _failed(self) -> Iterator[Finding]:
        if self.described["ClusterStatus"] == ClusterStatus.FAILED:
            text = self.described.get("FailureMessage") or ""
            yield self._finding(What.STATUS, status=ClusterStatus.FAILED, text=text)

    def _missing(self) -> Iterator[Finding]:
        for name in self._short:
            lasts = self.now - self.known.get(f"{_WATCH}{name}", self.now)
            is_told = any(fault.startswith(of_group(name)) for fault in self.known)
            if lasts >= self.patience and not is_told:
                group = self._groups[name]
                yield self._finding(
                    What.MISSING,
                    f"Group {name} has {group.get('CurrentCount', 0)} of "
                    f"{group.get('TargetCount', 0)} nodes for {round(lasts / 60)} minutes.",
                    group=name,
                )

    def _still_faulty(self) -> Iterator[Finding]:
        for instance in nodes_told(self.known):
            lasts = self.now - self.known[fault_of_node(instance)]
            if instance in self.present and lasts >= self.patience:
                yield self._finding(
                    What.STILL_FAULTY,
                    f"Node {instance} was found faulty {round(lasts / 60)} minutes ago, and is "
                    "still there.",
                    instance=instance,
                )

    def _plans(self) -> Iterator[Finding]:
        for plan, end in self.plan_ends.items():
            left = end - self.now
            if 0 < left <= PLAN_WARNING_SECONDS:
                users = {
                    name: group.get("CurrentCount", 0)
                    for name, group in self._groups.items()
                    if group.get("TrainingPlanArn") == plan
                }
                names = " and ".join(users)
                yield self._finding(
                    What.PLAN,
                    f"Training plan {plan} ends within {math.ceil(left / 3600)} h, and with it the "
                    f"{sum(users.values())} nodes of group {names}.",
                    group=names,
                    plan=plan,
                )
