"""What quotas come to: waits, what is borrowed and done again, and what stands idle."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hyperpod_cli.operate.quotas.cohort import Job, Kind
from hyperpod_cli.operate.quotas.configured import Governed, Nodes
from hyperpod_cli.operate.quotas.simulation import Simulation

ALL, NO_TEAM = "all", "(in no quota)"
_HOUR = 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A time in which nothing begins or ends.

    Attributes:
        start: When it begins, in seconds.
        waiting: How many jobs wait, by kind.
    """

    start: int
    end: int
    used: dict[tuple[str, Kind], int]
    waiting: dict[Kind, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measures:
    """What quotas come to for a team, or for all.

    Attributes:
        never: Those that never would.
        mean_wait_hours: How long its jobs waited, also after they made room.
        p95_wait_hours: How long 95 of 100 waited at most.
        borrowed_node_hours: What it used beyond its quota.
        preemptions: How often its jobs made room.
        lost_node_hours: What was done again after that.
        idle_node_hours: What of its quota no one used, until the last job ended.
        idle_waiting_node_hours: That of it, while jobs waited for such nodes.
        idle_usd: What that cost at list prices; None if a price is not known.
    """

    team: str
    jobs: int
    never: int
    mean_wait_hours: float
    p95_wait_hours: float
    borrowed_node_hours: float
    preemptions: int
    lost_node_hours: float
    idle_node_hours: float
    idle_waiting_node_hours: float
    idle_usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedQuotas:
    """What quotas do to the jobs.

    Attributes:
        label: `configured` or `proposed`.
    """

    label: str
    quotas: Governed
    jobs: Sequence[Job]
    simulation: Simulation
    rows: Sequence[Measures]

    @property
    def end(self) -> int | None:
        """When the last job ended; None if none ran."""
        return max((run.end for run in self.simulation.runs), default=None)

    @property
    def title(self) -> str:
        """The label, and whose quotas they are."""
        return f"{self.label}: {self.quotas.name}"


def spans(jobs: Sequence[Job], simulation: Simulation) -> Iterator[Span]:
    """Yield the times between changes, from the first submission to the last end."""
    changes: list[tuple[int, str, Kind, int, int]] = []
    never = {id(job) for job in simulation.never}
    for job in jobs:
        if id(job) not in never:
            changes += [(job.submitted, job.team, kind, 0, 1) for kind, _ in job.requests]
    for run in simulation.runs:
        for kind, amount in run.job.requests:
            changes.append((run.start, run.job.team, kind, amount, -1))
            waits_again = 0 if run.made_room_for is None else 1
            changes.append((run.end, run.job.team, kind, -amount, waits_again))
    changes.sort(key=lambda change: change[0])
    used, waiting = Counter[tuple[str, Kind]](), Counter[Kind]()
    for index, (moment, team, kind, amount, waits) in enumerate(changes):
        used[team, kind] += amount
        waiting[kind] += waits
        later = changes[index + 1][0] if index + 1 < len(changes) else moment
        if later > moment:
            yield Span(start=moment, end=later, used=dict(used), waiting=dict(waiting))


def measures(jobs: Sequence[Job], simulation: Simulation, quotas: Governed) -> list[Measures]:
    """Return what the quotas come to, by team, then for what is in no quota, then for all."""
    names = [team.name for team in quotas.rules.teams]
    borrowed = dict.fromkeys([*names, NO_TEAM], 0.0)
    idle = {(name, kind): [0.0, 0.0] for name in borrowed for kind in _kinds(quotas)}
    for span in spans(jobs, simulation):
        hours = (span.end - span.start) / _HOUR
        for nodes in quotas.divided:
            for name, over, left in _division(span, nodes, quotas):
                borrowed[name] += over / nodes.per_node * hours
                idle[name, nodes.kind][0] += left / nodes.per_node * hours
                if span.waiting.get(nodes.kind):
                    idle[name, nodes.kind][1] += left / nodes.per_node * hours
    waits = _waits(simulation)
    rows = []
    for name in [*names, NO_TEAM, ALL]:
        chosen = [name] if name != ALL else [*names, NO_TEAM]
        runs = [run for run in simulation.runs if run.job.team in chosen]
        hours_waited = sorted(wait / _HOUR for job, wait in waits.values() if job.team in chosen)
        spare = {
            nodes: sum(idle[team, nodes.kind][0] for team in chosen) for nodes in quotas.divided
        }
        rows.append(
            Measures(
                team=name,
                jobs=len(hours_waited),
                never=sum(job.team in chosen for job in simulation.never),
                mean_wait_hours=sum(hours_waited) / max(1, len(hours_waited)),
                p95_wait_hours=_percentile(hours_waited, 95),
                borrowed_node_hours=sum(borrowed[team] for team in chosen),
                preemptions=sum(run.made_room_for is not None for run in runs),
                lost_node_hours=sum(run.lost / _HOUR * nodes_of(run.job, quotas) for run in runs),
                idle_node_hours=sum(spare.values()),
                idle_waiting_node_hours=sum(
                    idle[team, kind][1] for team in chosen for kind in _kinds(quotas)
                ),
                idle_usd=_usd(spare),
            )
        )
    return rows


def nodes_of(job: Job, quotas: Governed) -> float:
    """Return how many nodes a job takes, parts of a node as parts."""
    return sum(amount / quotas.nodes[kind[0]].per_node for kind, amount in job.requests)


def _kinds(quotas: Governed) -> list[Kind]:
    return [nodes.kind for nodes in quotas.divided]


def _division(span: Span, nodes: Nodes, quotas: Governed) -> Iterator[tuple[str, float, float]]:
    """Yield of each team what it borrows of a kind, and what of its quota no one uses.

    What is borrowed comes from all that is lent, in proportion.
    """
    kind = nodes.kind
    over, lent, kept = {}, {}, {}
    given = 0
    for team in quotas.rules.teams:
        quota, used = team.quotas.get(kind), span.used.get((team.name, kind), 0)
        if quota is None:
            continue
        given += quota.nominal
        over[team.name] = max(0, used - quota.nominal)
        left = max(0, quota.nominal - used)
        lent[team.name] = left if quota.lending is None else min(left, quota.lending)
        kept[team.name] = left - lent[team.name]
    pool = nodes.count * nodes.per_node - given
    lent[NO_TEAM] = quotas.rules.pool.get(kind, 0)
    kept[NO_TEAM] = pool - lent[NO_TEAM]
    free = 1 - sum(over.values()) / max(1, sum(lent.values()))
    for name, amount in lent.items():
        yield name, over.get(name, 0), kept[name] + amount * free


def _waits(simulation: Simulation) -> dict[int, tuple[Job, int]]:
    """Return how long each job waited in all, by the job's identity."""
    ran = Counter[int]()
    waits: dict[int, tuple[Job, int]] = {}
    for run in simulation.runs:
        key = id(run.job)
        ran[key] += run.end - run.start
        if run.made_room_for is None:
            waits[key] = (run.job, run.end - run.job.submitted - ran[key])
    return waits


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Return the nearest-rank percentile; 0 of nothing."""
    if not ordered:
        return 0.0
    return ordered[math.ceil(percent / 100 * len(ordered)) - 1]


def _usd(spare: dict[Nodes, float]) -> float | None:
    total = Decimal(0)
    for nodes, hours in spare.items():
        if hours and nodes.usd_an_hour is None:
            return None
        total += (nodes.usd_an_hour or Decimal(0)) * Decimal(hours)
    return float(round(total, 2))
