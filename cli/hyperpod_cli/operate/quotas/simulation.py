"""What becomes of jobs in a cohort over time: who begins when, and who makes room."""

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_cli.operate.quotas.cohort import Cohort, Job, Requests, Rules
from hyperpod_cli.operate.quotas.preemption import Held, targets

_END, _SUBMISSION = 0, 1  # what ends at a time is seen before what is submitted then


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A time in which a job ran.

    Attributes:
        start: When it began, in seconds.
        lost: The seconds of work that are done again.
        made_room_for: The job that it made room for; None for a run that ended by itself.
    """

    job: Job
    start: int
    end: int
    lost: int = 0
    made_room_for: Job | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """What became of the jobs.

    Attributes:
        runs: Each time that a job ran, as they ended; not what made room as it began.
        never: The jobs that no cluster with these quotas ever runs: more than their team reaches.
    """

    runs: tuple[Run, ...]
    never: tuple[Job, ...]


def simulate(jobs: Sequence[Job], rules: Rules, *, checkpoint: int | None = None) -> Simulation:
    """Return what becomes of jobs; of two submitted at the same time, the first is first.

    A job that made room goes on from its last multiple of `checkpoint` seconds; by default, it
    begins again.
    """
    cohort = Cohort(rules)
    reachable: list[Job] = []
    never: list[Job] = []
    for job in jobs:
        fits = all(amount <= cohort.reach(job.team, kind) for kind, amount in job.requests)
        (reachable if fits else never).append(job)
    runs = _Cluster(reachable, rules, cohort, checkpoint).runs()
    return Simulation(runs=tuple(runs), never=tuple(never))


_Shape = tuple[int, Requests]


class _Queue:
    """The jobs of a team that wait: by priority, then by when they were submitted.

    A job that cannot begin does not hold up those behind it (BestEffortFIFO), so each is tried
    once, until something ends. What a job cannot do, one of the same size and no greater priority
    cannot either.

    https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#queueing-strategy
    """

    def __init__(self) -> None:
        self._waiting: dict[_Shape, list[tuple[int, int]]] = {}
        # By size: the highest priority that was tried.
        self._tried: dict[Requests, int] = {}

    def add(self, number: int, job: Job) -> None:
        shape = (job.priority, job.requests)
        heapq.heappush(self._waiting.setdefault(shape, []), (job.submitted, number))
        self._tried.pop(job.requests, None)

    def first(self) -> int | None:
        """Return the first that is not tried yet."""
        orders = (
            (-priority, *waiting[0])
            for (priority, requests), waiting in self._waiting.items()
            if priority > self._tried.get(requests, -1)
        )
        return min(orders, default=(0, 0, None))[2]

    def remove(self, job: Job) -> None:
        """Remove the first of those that are like a job."""
        shape = (job.priority, job.requests)
        heapq.heappop(self._waiting[shape])
        if not self._waiting[shape]:
            del self._waiting[shape]

    def set_aside(self, job: Job) -> None:
        self._tried[job.requests] = max(job.priority, self._tried.get(job.requests, -1))

    def try_again(self) -> None:
        self._tried.clear()


class _Cluster:
    def __init__(
        self, jobs: Sequence[Job], rules: Rules, cohort: Cohort, checkpoint: int | None
    ) -> None:
        self._jobs, self._rules, self._cohort, self._checkpoint = jobs, rules, cohort, checkpoint
        self._queues = {team.name: _Queue() for team in rules.teams}
        self._preempt_own = {team.name for team in rules.teams if team.preempts_own}
        self._running: dict[str, list[Held]] = {team.name: [] for team in rules.teams}
        self._held: dict[int, tuple[Held, int]] = {}
        self._left = [job.seconds for job in jobs]
        self._made_room_at: dict[int, int] = {}
        self._begun = 0
        self._events = [(job.submitted, _SUBMISSION, n, 0) for n, job in enumerate(jobs)]
        heapq.heapify(self._events)

    def runs(self) -> Iterator[Run]:
        """Yield each time that a job ran."""
        while self._events:
            now = self._events[0][0]
            while self._events and self._events[0][0] == now:
                _, kind, number, newness = heapq.heappop(self._events)
                if kind == _SUBMISSION:
                    self._queues[self._jobs[number].team].add(number, self._jobs[number])
                    continue
                running = self._held.get(number)
                if running is None or running[0].newness != newness:
                    continue  # it made room before
                start = self._stop(number)
                yield Run(job=self._jobs[number], start=start, end=now)
                self._try_all_again()
            yield from self._begin(now)

    def _begin(self, now: int) -> Iterator[Run]:
        """Let begin what can, a round at a time: of each team, the first that is not tried yet."""
        while True:
            heads = [
                first for queue in self._queues.values() if (first := queue.first()) is not None
            ]
            if not heads:
                return
            has_changed = False
            heads.sort(key=self._order)
            while heads:
                number = heads.pop(0)
                job = self._jobs[number]
                if self._cohort.fits(job.team, job.requests):
                    self._start(number, now)
                    has_changed = True
                    heads.sort(key=self._order)
                elif not has_changed:
                    making_room = self._making_room(number, now)
                    for held in making_room:
                        run = self._interrupt(held, now, made_room_for=job)
                        if run.start < now:
                            yield run
                    if making_room:
                        self._start(number, now)
                        self._try_all_again()
                        break  # others wait before these now
                    self._queues[job.team].set_aside(job)

    def _order(self, number: int) -> tuple[object, ...]:
        """Return who goes first of different teams.

        By the share that its team has then, or who needs not borrow; then by priority and age.
        https://kueue.sigs.k8s.io/docs/concepts/preemption/#clusterqueue-share-value
        """
        job = self._jobs[number]
        behind: object = (
            self._cohort.share(job.team, more=job.requests)
            if self._rules.fair_share
            else not self._cohort.is_within_quota(job.team, job.requests)
        )
        return behind, -job.priority, job.submitted, number

    def _making_room(self, number: int, now: int) -> list[Held]:
        # So that no two jobs make room for each other without end, though no time goes by.
        if self._made_room_at.get(number) == now:
            return []
        job = self._jobs[number]
        return targets(
            self._cohort,
            job,
            preempts_own=job.team in self._preempt_own,
            running=self._running,
            fair_share=self._rules.fair_share,
        )

    def _start(self, number: int, now: int) -> None:
        job = self._jobs[number]
        self._queues[job.team].remove(job)
        self._begun += 1
        held = Held(job=job, newness=-self._begun, number=number)
        self._cohort.add(job.team, job.requests)
        insort(self._running[job.team], held, key=lambda job: job.order)
        self._held[number] = (held, now)
        heapq.heappush(self._events, (now + self._left[number], _END, number, held.newness))

    def _stop(self, number: int) -> int:
        """Count a job as running no more; return when it began."""
        held, start = self._held.pop(number)
        self._cohort.remove(held.job.team, held.job.requests)
        group = self._running[held.job.team]
        del group[bisect_left(group, held.order, key=lambda job: job.order)]
        return start

    def _interrupt(self, held: Held, now: int, *, made_room_for: Job) -> Run:
        start = self._stop(held.number)
        kept = (now - start) // self._checkpoint * self._checkpoint if self._checkpoint else 0
        self._left[held.number] -= kept
        self._made_room_at[held.number] = now
        self._queues[held.job.team].add(held.number, held.job)
        lost = now - start - kept
        return Run(job=held.job, start=start, end=now, lost=lost, made_room_for=made_room_for)

    def _try_all_again(self) -> None:
        for queue in self._queues.values():
            queue.try_again()
