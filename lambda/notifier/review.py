"""What the schedule finds that no event says: what lasts, what is over, what ends soon."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from hyperpod_shared.clusters import ClusterStatus, Described, GroupStatus, present_groups
from notifier.decision import fault_of_node, is_whole, of_group
from notifier.findings import Finding, What

PLAN_WARNING_SECONDS = 24 * 3600
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


def review(
    described: Described,
    *,
    known: Mapping[str, float],
    present: Collection[str],
    plan_ends: Mapping[str, float],
    now: float,
    patience: float,
) -> Review:
    """Return what follows from how the cluster is, and from what was told or is watched since when.

    Of the nodes that were told as faulty, `present` are still there; `plan_ends` has when training
    plans end, by ARN; nodes may be missing, or faulty, for `patience` seconds before that is told.
    """
    if described["ClusterStatus"] == ClusterStatus.DELETING:
        return Review(over=(), watched=(), findings=())
    groups = present_groups(described)
    short = {name for name, group in groups.items() if not is_whole(group)}
    return Review(
        over=tuple(fault for fault in known if _is_over(fault, described, short, present)),
        watched=tuple(
            f"{_WATCH}{name}" for name in sorted(short) if f"{_WATCH}{name}" not in known
        ),
        findings=(
            *_failed(described, now),
            *_missing(described, known=known, short=short, now=now, patience=patience),
            *_still_faulty(described, known=known, present=present, now=now, patience=patience),
            *_plans(described, plan_ends=plan_ends, now=now),
        ),
    )


def _is_over(
    fault: str, described: Described, short: Collection[str], present: Collection[str]
) -> bool:
    kind, _, rest = fault.partition("/")
    status = described["ClusterStatus"]
    if kind in {"node", "still"}:
        return rest not in present
    if kind == "cluster":
        return bool(status == ClusterStatus.IN_SERVICE)
    name = rest.partition("/")[0]
    if kind == "watch":
        return name not in short
    if kind != "group":
        return False
    group = present_groups(described).get(name, {})
    failed = {status, group.get("Status")} & {ClusterStatus.FAILED, GroupStatus.FAILED}
    return name not in short and not failed


def _failed(described: Described, now: float) -> Iterator[Finding]:
    if described["ClusterStatus"] == ClusterStatus.FAILED:
        yield Finding(
            what=What.STATUS,
            cluster_arn=described["ClusterArn"],
            time=now,
            status=ClusterStatus.FAILED,
            text=described.get("FailureMessage") or "",
        )


def _missing(
    described: Described,
    *,
    known: Mapping[str, float],
    short: Collection[str],
    now: float,
    patience: float,
) -> Iterator[Finding]:
    for name in sorted(short):
        since = known.get(f"{_WATCH}{name}", now)
        if now - since < patience or any(fault.startswith(of_group(name)) for fault in known):
            continue
        group = present_groups(described)[name]
        yield Finding(
            what=What.MISSING,
            cluster_arn=described["ClusterArn"],
            time=now,
            group=name,
            description=(
                f"Group {name} has {group.get('CurrentCount', 0)} of {group.get('TargetCount', 0)} "
                f"nodes for {round((now - since) / 60)} minutes."
            ),
        )


def _still_faulty(
    described: Described,
    *,
    known: Mapping[str, float],
    present: Collection[str],
    now: float,
    patience: float,
) -> Iterator[Finding]:
    for instance in nodes_told(known):
        since = known[fault_of_node(instance)]
        if instance in present and now - since >= patience:
            yield Finding(
                what=What.STILL_FAULTY,
                cluster_arn=described["ClusterArn"],
                time=now,
                instance=instance,
                description=(
                    f"Node {instance} was found faulty {round((now - since) / 60)} minutes ago, "
                    "and is still there."
                ),
            )


def _plans(
    described: Described, *, plan_ends: Mapping[str, float], now: float
) -> Iterator[Finding]:
    for plan, end in plan_ends.items():
        left = end - now
        users = {
            name: group
            for name, group in present_groups(described).items()
            if group.get("TrainingPlanArn") == plan
        }
        if 0 < left <= PLAN_WARNING_SECONDS:
            nodes = sum(group.get("CurrentCount", 0) for group in users.values())
            names = " and ".join(users)
            yield Finding(
                what=What.PLAN,
                cluster_arn=described["ClusterArn"],
                time=now,
                group=names,
                plan=plan,
                description=(
                    f"Training plan {plan} ends within {math.ceil(left / 3600)} h, and with it the "
                    f"{nodes} nodes of group {names}."
                ),
            )
