"""When training plans begin and end, which groups use them, and what becomes of the nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.operate.clusters import Chosen, NoClusterError
from hyperpod_cli.operate.idle import duration
from hyperpod_cli.terminal.console import console, in_utc, print_json, styled, table

Plan = Mapping[str, Any]
# https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-training-jobs.html
_BEFORE_END = timedelta(minutes=30)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanUser:
    """A group that uses a training plan.

    Attributes:
        running: How many it has; None if there is no such group yet.
    """

    group: str
    plan: str
    wanted: int
    running: int | None = None

    def __str__(self) -> str:
        have = "not deployed" if self.running is None else f"{self.running} of {self.wanted}"
        return f"{self.group} ({have})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """A time for which a training plan has capacity; a plan may have several.

    Attributes:
        starts: When it begins, in UTC; empty if AWS does not say.
        time: How long until it begins, or how long it still has.
        next: What becomes of the nodes, and what to do.
    """

    plan: str
    status: str
    instances: str = ""
    starts: str = ""
    ends: str = ""
    time: str = ""
    groups: str
    next: str


def periods(
    name: str, plan: Plan | None, users: Sequence[PlanUser], *, chosen: Chosen, now: datetime
) -> Iterator[Period]:
    """Yield the times of a plan, the next one first; None is a plan that is not there."""
    shared = {"plan": name, "groups": ", ".join(map(str, users))}
    if plan is None:
        yield Period(
            **shared,
            status="not there",
            next="no node can come: `aws sagemaker list-training-plans` lists those that are there",
        )
        return
    reserved = plan.get("ReservedCapacitySummaries") or [plan]
    for each in sorted(reserved, key=lambda one: str(one.get("StartTime", ""))):
        starts, ends = each.get("StartTime"), each.get("EndTime")
        total = each.get("TotalInstanceCount", plan.get("TotalInstanceCount", 0))
        yield Period(
            **shared,
            status=plan["Status"],
            instances=" x ".join(filter(None, (str(total), each.get("InstanceType", "")))),
            starts="" if starts is None else in_utc(starts),
            ends="" if ends is None else in_utc(ends),
            time=_time(starts, ends, now=now),
            next="; ".join(_next(plan, users, total, starts, ends, chosen=chosen, now=now)),
        )


def _time(starts: datetime | None, ends: datetime | None, *, now: datetime) -> str:
    if starts is not None and now < starts:
        return f"in {duration(starts - now)}"
    if ends is None:
        return ""
    return f"{duration(ends - now)} left" if now < ends else "over"


def _next(
    plan: Plan,
    users: Sequence[PlanUser],
    total: int,
    starts: datetime | None,
    ends: datetime | None,
    *,
    chosen: Chosen,
    now: datetime,
) -> Iterator[str]:
    wanted = sum(user.wanted for user in users)
    if plan["Status"] in ("Failed", "Pending"):
        why = plan.get("StatusMessage", "")
        yield f"no node comes while it is {plan['Status']}{': ' if why else ''}{why}"
        return
    if plan["Status"] == "Expired" or (ends is not None and now >= ends):
        if wanted:
            yield "its nodes are gone: extend the plan, name another, or scale the group to 0"
        return
    begins = starts is not None and now < starts
    if wanted and begins:
        # HyperPod tries again for ever with continuous provisioning.
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-eks.html
        yield f"HyperPod launches {wanted} when it begins, without another deployment"
    if not wanted:
        when = "they come when it begins" if begins else "it is paid and unused"
        (first, *_) = users
        yield f"`{chosen.command('scale', first.group, str(total))}`: {when}"
    elif wanted < total:
        yield f"{total - wanted} of its instances are in no group"
    elif wanted > total:
        yield f"{wanted - total} nodes more are wanted than it has"
    if not begins and wanted and ends is not None:
        yield f"HyperPod begins to end its nodes at {in_utc(ends - _BEFORE_END)}: save before"


def users_of(chosen: Chosen) -> list[PlanUser]:
    """Return the groups with a training plan: of the cluster, and of its configuration.

    NoClusterError: there is no cluster, and no configuration.
    """
    try:
        groups = dict(chosen.found().groups)
    except NoClusterError:
        if chosen.config is None:
            raise
        groups = {}
    found = {
        name: PlanUser(
            group=name,
            plan=_name(group["TrainingPlanArn"]),
            wanted=group.get("TargetCount", 0),
            running=group.get("CurrentCount", 0),
        )
        for name, group in groups.items()
        if group.get("TrainingPlanArn")
    }
    for each in () if chosen.config is None else chosen.config.cluster.all_groups:
        if each.training_plan_arn is not None and each.name not in found:
            plan = _name(each.training_plan_arn)
            found[each.name] = PlanUser(group=each.name, plan=plan, wanted=each.instance_count)
    return list(found.values())


def _name(arn: str) -> str:
    return arn.rpartition("/")[2]


def calendar(chosen: Chosen, sagemaker: AwsClient, *, now: datetime) -> list[Period]:
    """Return the times of all training plans of a cluster, in their order."""
    users = users_of(chosen)
    found: list[Period] = []
    for name in sorted({user.plan for user in users}):
        plan = answer_of(sagemaker.describe_training_plan, TrainingPlanName=name)
        own = [user for user in users if user.plan == name]
        found += periods(name, plan, own, chosen=chosen, now=now)
    return sorted(found, key=lambda each: (each.starts, each.plan))


def run(chosen: Chosen, *, as_json: bool) -> None:
    """Show the calendar."""
    now = datetime.now(UTC)
    found = calendar(chosen, chosen.sagemaker, now=now)
    if as_json:
        print_json(found)
        return
    out = console()
    if not found:
        out.print("No group has a training plan.")
        return
    columns = ("plan", "status", "instances", "starts", "ends", "time", "groups")
    made = table(*columns)
    for each in found:
        made.add_row(*(styled(getattr(each, name)) for name in columns))
    out.print(made)
    for each in found:
        if each.next:
            out.print(styled(f"\n{each.plan}: {each.next}."))
