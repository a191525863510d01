"""Whose jobs had which nodes of a month, by Slurm's records. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hyperpod_cdk.facts.instance_types import facts_of_any, has_accelerators
from hyperpod_cli.inspect.actual_cost.records import Allocation, Records, Registered
from hyperpod_cli.inspect.actual_cost.usage import HOUR, UNKNOWN, Month, Use, divided
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_shared.clusters import COMPUTE, Group, Groups, node_type, partitions_of, types_of

NO_ACCOUNT, NO_USER = "no account", "no user"
Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """What a node is: its type, and how much of what jobs ask for it has."""

    instance_type: str
    gpus: int
    cpus: int


def month_of_records(
    records: Records,
    *,
    nodes: Sequence[ClusterNode],
    groups: Groups,
    start: datetime,
    end: datetime,
    region: str | None,
) -> Month | None:
    """Return what the nodes were used for; None if Slurm knows of no node in that time.

    Args:
        records: What Slurm has of the month.
        nodes: The nodes that the cluster has now.
        groups: Its instance groups, as described.
        start: When the month begins.
        end: When it ends.
        region: Where the nodes are paid for.
    """
    first, last = start.timestamp(), min(end.timestamp(), records.read_at)

    def clipped(since: float, until: float | None) -> list[Span]:
        span = max(since, first), last if until is None else min(until, last)
        return [span] if span[0] < span[1] else []

    spans: dict[str, list[Span]] = {}
    known: list[Registered | Allocation] = [*records.registered, *records.allocations]
    for entry in known:
        for host in entry.hosts:
            spans.setdefault(host, []).extend(clipped(entry.start, entry.end))
    if not any(spans.values()):
        return None
    # The controller is none of Slurm's nodes, nor is one that has not joined yet.
    for node in nodes:
        if node.id and node.host not in spans:
            since = first if node.launched is None else node.launched.timestamp()
            spans[node.host or node.id] = clipped(since, None)
    kinds = _kinds(spans, nodes=nodes, groups=groups, allocations=records.allocations)
    there: dict[str, float] = {}
    for host, found in spans.items():
        kind = kinds[host]
        name = UNKNOWN if kind is None else kind.instance_type
        if found:
            there[name] = there.get(name, 0) + _length(found) / HOUR
    has_gpus = any(each.gpus for each in records.allocations)
    uses = [
        use
        for each in records.allocations
        for since, until in clipped(each.start, each.end)
        for use in _uses(each, kinds=kinds, has_gpus=has_gpus, hours=(until - since) / HOUR)
    ]
    begin = min(span[0] for found in spans.values() for span in found)
    return divided(
        there,
        uses,
        since=datetime.fromtimestamp(begin, UTC),
        until=datetime.fromtimestamp(last, UTC),
        region=region,
    )


def _uses(
    job: Allocation, *, kinds: Mapping[str, _Kind | None], has_gpus: bool, hours: float
) -> Iterator[Use]:
    found = [kind for host in job.hosts if (kind := kinds[host]) is not None]
    # Slurm does not say how much of each node a job has, only of all of them.
    gpus, cpus = sum(each.gpus for each in found), sum(each.cpus for each in found)
    share = 1.0
    if has_gpus and gpus:
        share = job.gpus / gpus
    elif job.cpus is not None and cpus:
        share = job.cpus / cpus
    for kind in found:
        if has_accelerators(kind.instance_type) and share:
            yield Use(
                owner=job.account or NO_ACCOUNT,
                user=job.user or NO_USER,
                instance_type=kind.instance_type,
                hours=min(1.0, share) * hours,
            )


def _kinds(
    hosts: Iterable[str],
    *,
    nodes: Sequence[ClusterNode],
    groups: Groups,
    allocations: Sequence[Allocation],
) -> dict[str, _Kind | None]:
    """Return what each node is.

    One that is gone was of the compute group whose partition had jobs on it, or of the only one;
    None where these have several kinds.
    """
    known = {
        name: _kind(node.instance_type, groups.get(node.group, {}))
        for node in nodes
        for name in (node.host, node.id)
        if name
    }
    partitions: dict[str, set[str]] = {}
    for job in allocations:
        for host in job.hosts:
            partitions.setdefault(host, set()).add(job.partition)
    compute = [group for group in groups.values() if node_type(group) == COMPUTE]
    found: dict[str, _Kind | None] = {}
    for host in hosts:
        ran = partitions.get(host, set())
        likely = [group for group in compute if ran & {*partitions_of(group)}] or compute
        possible = {_kind(name, group) for group in likely for name in types_of(group)}
        found[host] = known.get(host) or (possible.pop() if len(possible) == 1 else None)
    return found


def _kind(instance_type: str, group: Group) -> _Kind:
    facts = facts_of_any(instance_type)
    if facts is None:
        return _Kind(instance_type=instance_type, gpus=0, cpus=0)
    threads = facts.default_threads_per_core
    device = facts.accelerator
    return _Kind(
        instance_type=instance_type,
        gpus=device.count if device is not None and device.kind == "GPU" else 0,
        cpus=facts.vcpus // threads * (group.get("ThreadsPerCore") or threads),
    )


def _length(spans: Sequence[Span]) -> float:
    """Return how many seconds are in any of some spans."""
    total, reached = 0.0, float("-inf")
    for since, until in sorted(spans):
        total += max(0.0, until - max(since, reached))
        reached = max(reached, until)
    return total
