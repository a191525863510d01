"""Whose pods had which nodes, from metrics of Kubernetes; and what that is in dollars. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from hyperpod_cdk.cost.charges import charge_of
from hyperpod_cdk.facts.instance_types import has_accelerators
from hyperpod_cdk.facts.prices import biller_of
from hyperpod_cdk.panels.definition import Query
from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.shares import SHARES
from hyperpod_cli.inspect.actual_cost.query import Series
from hyperpod_shared.governance import TEAM_NAMESPACE

_TYPE = "node_kubernetes_io_instance_type"
_HOUR = 3600
IDLE, PLAIN, ALL = "idle", "nodes without accelerators", "all nodes"


def nodes_query(cluster_id: str) -> str:
    """Return a query for the number of a cluster's nodes, by instance type."""
    return f"count by ({_TYPE}) ({_nodes(cluster_id)})"


def usage_query(cluster_id: str) -> str:
    """Return a query for how many nodes the pods of each namespace have, by instance type."""
    shares = filled(Query(text=SHARES), matcher=f'cluster_id="{cluster_id}"')
    typed = f"* on (node) group_left ({_TYPE}) {_nodes(cluster_id)}"
    return f"sum by (namespace, {_TYPE}) ({shares} {typed})"


def _nodes(cluster_id: str) -> str:
    return f'max by (node, {_TYPE}) (kubelet_node_name{{cluster_id="{cluster_id}"}})'


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a team, or nobody, had of the nodes.

    Attributes:
        name: The team, the namespace of others, or one of `IDLE`, `PLAIN` and `ALL`.
        node_hours: How much.
        share: Its part of the nodes with accelerators; None for what is not of them.
        usd: What that costs at list prices; None if a price is not known.
        is_estimate: Whether a price is that of something similar.
    """

    name: str
    node_hours: float
    share: float | None
    usd: float | None
    is_estimate: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """What the nodes were used for.

    Attributes:
        since: The first metrics of the month.
        until: The last.
        parts: Teams and namespaces, the largest first; then idle, plain and all nodes.
    """

    since: datetime
    until: datetime
    parts: tuple[Part, ...]


def month_of(
    nodes: Sequence[Series], used: Sequence[Series], *, step_seconds: int, region: str | None
) -> Month | None:
    """Return what the nodes were used for; None without metrics.

    Args:
        nodes: What `nodes_query` finds.
        used: What `usage_query` finds.
        step_seconds: For how long each sample stands.
        region: Where the nodes are paid for.
    """
    moments = [moment for each in nodes for moment, _ in each.samples]
    if not moments:
        return None
    step = step_seconds / _HOUR
    there = {each.labels[_TYPE]: step * _sum(each) for each in nodes}
    by_owner: dict[str, dict[str, float]] = {}
    for each in used:
        hours = by_owner.setdefault(_owner(each.labels["namespace"]), {})
        instance_type = each.labels[_TYPE]
        hours[instance_type] = hours.get(instance_type, 0) + step * _sum(each)
    fast = {name: hours for name, hours in there.items() if has_accelerators(name)}
    plain = {name: hours for name, hours in there.items() if name not in fast}
    idle = {
        name: max(0.0, hours - sum(each.get(name, 0) for each in by_owner.values()))
        for name, hours in fast.items()
    }
    whole = sum(fast.values())
    owners = sorted(by_owner.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    parts = [_part(name, hours, whole=whole, region=region) for name, hours in owners]
    parts.append(_part(IDLE, idle, whole=whole, region=region))
    parts += [_part(name, hours, whole=None, region=region) for name, hours in _rest(plain, there)]
    return Month(
        since=datetime.fromtimestamp(min(moments), UTC),
        until=datetime.fromtimestamp(max(moments), UTC),
        parts=tuple(parts),
    )


def _rest(
    plain: Mapping[str, float], there: Mapping[str, float]
) -> list[tuple[str, Mapping[str, float]]]:
    return [(PLAIN, plain), (ALL, there)]


def _sum(series: Series) -> float:
    return sum(value for _, value in series.samples)


def _owner(namespace: str) -> str:
    team = namespace.removeprefix(TEAM_NAMESPACE)
    return team if team != namespace else f"namespace {namespace}"


def _part(
    name: str, hours: Mapping[str, float], *, whole: float | None, region: str | None
) -> Part:
    usd: Decimal | None = Decimal(0)
    is_estimate = False
    for instance_type, amount in hours.items():
        charge = charge_of(
            instance_type,
            quantity=1,
            service=biller_of(instance_type),
            item=instance_type,
            region=region,
        )
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
