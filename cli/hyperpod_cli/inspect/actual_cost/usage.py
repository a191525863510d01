"""Whose pods had which nodes, from metrics of Kubernetes; and what that is in dollars. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from hyperpod_cdk.cost.charges import Charge, charge_of
from hyperpod_cdk.facts.instance_types import has_accelerators
from hyperpod_cdk.facts.prices import biller_of
from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.shares import SHARES
from hyperpod_cli.inspect.actual_cost.query import Series
from hyperpod_shared.governance import TEAM_NAMESPACE

_TYPE = "node_kubernetes_io_instance_type"
HOUR = 3600
IDLE, PLAIN, ALL = "idle", "nodes without accelerators", "all nodes"
UNKNOWN = "nodes of unknown type"
"""What stands for the type of a node of which no one says what it was."""


def nodes_query(cluster_id: str) -> str:
    """Return a query for the number of a cluster's nodes, by instance type."""
    return f"count by ({_TYPE}) ({_nodes(cluster_id)})"


def usage_query(cluster_id: str) -> str:
    """Return a query for how many nodes the pods of each namespace have, by instance type."""
    shares = filled(SHARES, matcher=f'cluster_id="{cluster_id}"')
    typed = f"* on (node) group_left ({_TYPE}) {_nodes(cluster_id)}"
    return f"sum by (namespace, {_TYPE}) ({shares} {typed})"


def _nodes(cluster_id: str) -> str:
    return f'max by (node, {_TYPE}) (kubelet_node_name{{cluster_id="{cluster_id}"}})'


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a team, or no one, had of the nodes.

    The name is of a team, an account, a namespace of others or a user, or one of `IDLE`, `PLAIN`,
    `UNKNOWN` and `ALL`. The share is that of the nodes with accelerators, None for what is not of
    them; dollars are at list prices, None if one is not known, and estimated if one is of something
    similar.
    """

    name: str
    node_hours: float
    share: float | None
    usd: float | None
    is_estimate: bool
    users: tuple["Part", ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """What someone had of the nodes with accelerators, in hours; the user is empty if not known."""

    owner: str
    user: str
    instance_type: str
    hours: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """What the nodes were used for, in the part of the month of which something is known.

    Of the parts, the largest comes first; then idle, plain and all nodes.
    """

    since: datetime
    until: datetime
    parts: tuple[Part, ...]
    unpriced: tuple[str, ...]


def month_of(
    nodes: Sequence[Series],
    used: Sequence[Series],
    *,
    step_seconds: int,
    region: str | None,
    teams: Mapping[str, str] | None = None,
) -> Month | None:
    """Return what the nodes were used for, by what the two queries find; None without metrics.

    Each sample stands for the seconds of a step. Teams are by their namespaces.
    """
    moments = [moment for series in nodes for moment, _ in series.samples]
    if not moments:
        return None
    step = step_seconds / HOUR
    return divided(
        {_type(series): step * _sum(series) for series in nodes},
        [
            Use(
                owner=_owner(series.labels["namespace"], teams=teams or {}),
                user="",
                instance_type=_type(series),
                hours=step * _sum(series),
            )
            for series in used
        ],
        since=datetime.fromtimestamp(min(moments), UTC),
        until=datetime.fromtimestamp(max(moments), UTC),
        region=region,
    )


def divided(
    there: Mapping[str, float],
    uses: Sequence[Use],
    *,
    since: datetime,
    until: datetime,
    region: str | None,
) -> Month:
    """Return who had how much of the nodes, and what no one had.

    What there was is in hours, by instance type or `UNKNOWN`.
    """
    used = _hours(uses)
    # What accelerators are asked of has some, also a type that is not known here yet.
    fast = {name: hours for name, hours in there.items() if has_accelerators(name) or name in used}
    gone = {name: hours for name, hours in there.items() if name == UNKNOWN and name not in fast}
    plain = {name: hours for name, hours in there.items() if name not in {*fast, *gone}}
    # Jobs that share what they have, and those whose end Slurm has lost, are more than there was.
    had = {name: min(1.0, there.get(name, 0) / hours) for name, hours in used.items() if hours}
    uses = [replace(use, hours=use.hours * had.get(use.instance_type, 0)) for use in uses]
    idle = {name: max(0.0, hours - used.get(name, 0)) for name, hours in fast.items()}
    whole = sum(fast.values())
    parts = [
        replace(
            _part(name, _hours(of_owner), whole=whole, region=region),
            users=tuple(
                _part(user, _hours(of_user), whole=whole, region=region)
                for user, of_user in _largest(of_owner, lambda use: use.user)
                if user
            ),
        )
        for name, of_owner in _largest(uses, lambda use: use.owner)
    ]
    parts.append(_part(IDLE, idle, whole=whole, region=region))
    rest = [(PLAIN, plain), *([(UNKNOWN, gone)] if gone else []), (ALL, there)]
    parts += [_part(name, hours, whole=None, region=region) for name, hours in rest]
    known = {*there} - {UNKNOWN}
    unpriced = sorted(name for name in known if _charge(name, region=region).usd is None)
    return Month(since=since, until=until, parts=tuple(parts), unpriced=tuple(unpriced))


def _hours(uses: Iterable[Use]) -> dict[str, float]:
    hours: dict[str, float] = {}
    for use in uses:
        hours[use.instance_type] = hours.get(use.instance_type, 0) + use.hours
    return hours


def _largest(uses: Iterable[Use], key: Callable[[Use], str]) -> list[tuple[str, list[Use]]]:
    grouped: dict[str, list[Use]] = {}
    for use in uses:
        grouped.setdefault(key(use), []).append(use)
    return sorted(grouped.items(), key=lambda item: (-sum(use.hours for use in item[1]), item[0]))


def _type(series: Series) -> str:
    """Return the instance type of nodes; one that has just registered has none yet."""
    return series.labels.get(_TYPE, UNKNOWN)


def _sum(series: Series) -> float:
    return sum(value for _, value in series.samples)


def _owner(namespace: str, *, teams: Mapping[str, str]) -> str:
    if namespace in teams:
        return teams[namespace]
    team = namespace.removeprefix(TEAM_NAMESPACE)
    return team if team != namespace else f"namespace {namespace}"


def _charge(instance_type: str, *, region: str | None) -> Charge:
    """Return what an hour of a node costs."""
    return charge_of(
        instance_type,
        quantity=1,
        service=biller_of(instance_type),
        item=instance_type,
        region=region,
    )


def _part(
    name: str, hours: Mapping[str, float], *, whole: float | None, region: str | None
) -> Part:
    usd: Decimal | None = Decimal(0)
    is_estimate = False
    for instance_type, amount in hours.items():
        charge = _charge(instance_type, region=region)
        is_estimate |= charge.is_estimate
        usd = None if usd is None or charge.usd is None else usd + charge.usd * Decimal(amount)
    total = sum(hours.values())
    return Part(
        name=name,
        node_hours=round(total, 2),
        share=None if whole is None else round(total / whole, 4) if whole else 0.0,
        usd=None if usd is None else float(round(usd, 2)),
        is_estimate=is_estimate,
    )
