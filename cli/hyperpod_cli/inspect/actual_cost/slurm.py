"""Whose jobs had which nodes of a month, by Slurm's records. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hyperpod_cdk.facts.instance_types import facts_of_any, has_accelerators
from hyperpod_cli.inspect.actual_cost.records import Allocation, Records, Registered
from hyperpod_cli.inspect.actual_cost.usage import HOUR, UNKNOWN, Month, Use, divided
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_shared.clusters import COMPUTE, Group, Groups, node_type, partitions_of, types_of

NO_ACCOUNT, NO_USER = "no account", "no user"
Span = tuple[float, float]
# Within this time a node that is launched has joined Slurm, or has failed.
_JOIN_SECONDS = 2 * HOUR


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
    """Return what the nodes were used for; None if Slurm knows of no node in that time."""
    entries: list[Registered | Allocation] = [*records.registered, *records.allocations]
    # Before Slurm's first record, no one says what nodes were used for.
    first = max(start.timestamp(), min((entry.start for entry in entries), default=0))
    last = min(end.timestamp(), records.read_at)

    def clipped(since: float, until: float | None) -> list[Span]:
        span = max(since, first), last if until is None else min(until, last)
        return [span] if span[0] < span[1] else []

    spans: dict[str, list[Span]] = {}
    gone: dict[str, float] = {}
    for entry in records.registered:
        until = records.read_at if entry.end is None else entry.end
        for host in entry.hosts:
            spans.setdefault(host, []).extend(clipped(entry.start, until))
            gone[host] = max(until, gone.get(host, 0))
    had: list[tuple[Allocation, list[tuple[str, Span]]]] = []
    for job in records.allocations:
        # Slurm has lost the end of a job that outlives its node.
        of_job = [
            (host, span)
            for host in job.hosts
            for span in clipped(job.start, gone.get(host) if job.end is None else job.end)
        ]
        for host, span in of_job:
            spans.setdefault(host, []).append(span)
        had.append((job, of_job))
    if not any(spans.values()):
        return None
    # The controller is none of Slurm's nodes, and others are so only some time after their launch.
    for node in nodes:
        if node.id and (node.launched is not None or node.host not in spans):
            since = first if node.launched is None else node.launched.timestamp()
            spans.setdefault(node.host or node.id, []).extend(clipped(since, None))
    kinds = _kinds(spans, nodes=nodes, groups=groups, allocations=records.allocations)
    there: dict[str, float] = {}
    for host, known in spans.items():
        kind = kinds[host]
        name = UNKNOWN if kind is None else kind.instance_type
        if known:
            there[name] = there.get(name, 0) + _length(known) / HOUR
    has_gpus = any(record.gpus for record in records.allocations)
    uses = [
        Use(
            owner=job.account or NO_ACCOUNT,
            user=job.user or NO_USER,
            instance_type=kind.instance_type,
            hours=share * (until - since) / HOUR,
        )
        for job, spans in had
        if (share := _share(job, kinds=kinds, has_gpus=has_gpus))
        for host, (since, until) in spans
        if (kind := kinds[host]) is not None and has_accelerators(kind.instance_type)
    ]
    begin = min(since for known in spans.values() for since, _ in known)
    return divided(
        there,
        uses,
        since=datetime.fromtimestamp(begin, UTC),
        until=datetime.fromtimestamp(last, UTC),
        region=region,
    )


def are_of_another(
    records: Records, *, nodes: Sequence[ClusterNode], groups: Groups, end: datetime
) -> bool:
    """Say whether records name no node of a cluster, though it has had some for long."""
    last = min(end.timestamp(), records.read_at)
    joined = {
        node.host
        for node in nodes
        if node_type(groups.get(node.group, {})) == COMPUTE
        and node.launched is not None
        and node.launched.timestamp() + _JOIN_SECONDS < last
    } - {""}
    entries: list[Registered | Allocation] = [*records.registered, *records.allocations]
    named = {host for entry in entries for host in entry.hosts}
    return bool(named and joined) and not named & joined


def _share(job: Allocation, *, kinds: Mapping[str, _Kind | None], has_gpus: bool) -> float:
    """Return how much of each of its nodes a job has."""
    kinds_of_job = [kind for host in job.hosts if (kind := kinds.get(host)) is not None]
    # Slurm does not say how much of each node a job has, only of all of them.
    gpus, cpus = sum(kind.gpus for kind in kinds_of_job), sum(kind.cpus for kind in kinds_of_job)
    share = 1.0
    if has_gpus and gpus:
        share = job.gpus / gpus
    elif job.cpus is not None and cpus:
        share = job.cpus / cpus
    return min(1.0, share)


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
    by_host: dict[str, _Kind | None] = {}
    for host in hosts:
        ran = partitions.get(host, set())
        likely = [group for group in compute if ran & {*partitions_of(group)}] or compute
        possible = {_kind(name, group) for group in likely for name in types_of(group)}
        by_host[host] = known.get(host) or (possible.pop() if len(possible) == 1 else None)
    return by_host


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
