"""Which running jobs make room for one that waits.

https://kueue.sigs.k8s.io/docs/concepts/preemption/
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hyperpod_cli.operate.quotas.cohort import Cohort, Job, Kind, Requests


@dataclass(frozen=True, slots=True)
class Held:
    """What a running job holds.

    Attributes:
        newness: Minus its number among all that began, so that the newest comes first.
        number: Its number in the list of jobs.
    """

    job: Job
    newness: int
    number: int

    @property
    def order(self) -> tuple[int, int]:
        """Who goes first of those that make room: low priority, then what began last."""
        return self.job.priority, self.newness


def targets(
    cohort: Cohort,
    waiting: Job,
    *,
    preempts_own: bool,
    running: Mapping[str, Sequence[Held]],
    fair_share: bool,
) -> list[Held]:
    """Return the jobs that make room for one that does not fit; none if they cannot.

    What is used is the same afterwards. With `preempts_own`, jobs of its own team with lower
    priority make room. With `fair_share`, teams may be made to give back what is
    more than their share.
    """
    team = waiting.team
    # https://kueue.sigs.k8s.io/docs/concepts/preemption/#classic-preemption
    if not fair_share and any(
        amount > cohort.nominal(team, kind) for kind, amount in waiting.requests
    ):
        return []
    short = {kind for kind, amount in waiting.requests if amount > cohort.available(team, kind)}
    candidates = dict(_candidates(cohort, waiting, preempts_own, running=running, short=short))
    trial = _Trial(cohort, waiting)
    of_team = candidates.get(team, [])
    if fair_share and candidates.keys() - {team}:
        return _fair(trial, candidates)
    # https://kueue.sigs.k8s.io/docs/concepts/preemption/#targets: 3, then 1 or 4
    is_below = all(cohort.used(team, kind) < cohort.nominal(team, kind) for kind in short)
    if is_below and candidates.keys() - {team}:
        others = (held for name, group in candidates.items() if name != team for held in group)
        first = sorted(others, key=lambda held: held.order)
        victims = trial.until_it_fits([*first, *of_team], borrows=False)
        if victims:
            return victims
    return trial.until_it_fits(of_team, borrows=True)


def _candidates(
    cohort: Cohort,
    waiting: Job,
    preempts_own: bool,
    *,
    running: Mapping[str, Sequence[Held]],
    short: set[Kind],
) -> Iterator[tuple[str, list[Held]]]:
    """Yield who might make room, by team: what is borrowed, and the team's own lower priorities."""
    for name, group in running.items():
        is_own = name == waiting.team
        if preempts_own if is_own else cohort.borrows(name, short):
            victims = [
                held
                for held in group
                if (not is_own or held.job.priority < waiting.priority)
                and any(kind in short for kind, _ in held.job.requests)
            ]
            if victims:
                yield name, victims


class _Trial:
    """Takes jobs away as a trial; what is counted is as before when the answer is there."""

    def __init__(self, cohort: Cohort, waiting: Job) -> None:
        self.cohort, self.team, self.requests = cohort, waiting.team, waiting.requests
        self._taken: list[Held] = []

    def fits_without(self, held: Held, *, borrows: bool = True) -> bool:
        """Take a job away, and tell whether the one that waits fits now."""
        self.cohort.remove(held.job.team, held.job.requests)
        self._taken.append(held)
        return self.cohort.fits(self.team, self.requests, borrows=borrows)

    def until_it_fits(self, candidates: Iterable[Held], *, borrows: bool) -> list[Held]:
        """Return those that make room, taken in this order; none if it does not fit then."""
        for held in candidates:
            is_other = held.job.team != self.team
            if is_other and not self.cohort.borrows(
                held.job.team, (kind for kind, _ in held.job.requests)
            ):
                continue
            if self.fits_without(held, borrows=borrows):
                return self.settled(borrows=borrows)
        self.given_up()
        return []

    def settled(self, *, borrows: bool = True) -> list[Held]:
        """Return those of them without which the job does not fit, the last first to stay."""
        needed = self._taken[-1:]
        for held in reversed(self._taken[:-1]):
            self.cohort.add(held.job.team, held.job.requests)
            if not self.cohort.fits(self.team, self.requests, borrows=borrows):
                self.cohort.remove(held.job.team, held.job.requests)
                needed.append(held)
        for held in needed:
            self.cohort.add(held.job.team, held.job.requests)
        self._taken = []
        return needed

    def given_up(self) -> None:
        """Give back all that was taken."""
        for held in self._taken:
            self.cohort.add(held.job.team, held.job.requests)
        self._taken = []


def _fair(trial: _Trial, candidates: Mapping[str, Sequence[Held]]) -> list[Held]:
    """Return who makes room so that shares are more equal.

    First those without which their team still has no less than the one that waits, then those of
    teams that have more than it with them (LessThanOrEqualToFinalShare, LessThanInitialShare).

    https://kueue.sigs.k8s.io/docs/concepts/preemption/#preemption-strategies
    """
    cohort, team = trial.cohort, trial.team
    mine = cohort.share(team, more=trial.requests)
    if team not in candidates and all(mine > cohort.share(name) for name in candidates):
        return []
    left = {name: [*group] for name, group in candidates.items()}
    again: dict[str, list[Held]] = {}
    while (name := _greatest(cohort, team, left)) is not None:
        index = 0 if name == team else _first_that_stays_ahead(trial, left[name])
        if index is None:
            again.setdefault(name, []).extend(left.pop(name))
            continue
        held = left[name][index]
        again.setdefault(name, []).extend(left[name][:index])
        del left[name][: index + 1]
        if trial.fits_without(held):
            return trial.settled()
    while (name := _greatest(cohort, team, again)) is not None:
        if cohort.share(team, more=trial.requests) >= cohort.share(name):
            del again[name]
        elif trial.fits_without(again[name].pop(0)):
            return trial.settled()
    trial.given_up()
    return []


def _first_that_stays_ahead(trial: _Trial, group: Sequence[Held]) -> int | None:
    """Return which job of a team can go so that the team still has no less than who waits."""
    mine = trial.cohort.share(trial.team, more=trial.requests)
    # Of jobs alike in size, one answer is enough.
    stays: dict[Requests, bool] = {}
    for index, held in enumerate(group):
        if held.job.requests not in stays:
            stays[held.job.requests] = mine <= trial.cohort.share(
                held.job.team, less=held.job.requests
            )
        if stays[held.job.requests]:
            return index
    return None


def _greatest(cohort: Cohort, team: str, groups: Mapping[str, Sequence[Held]]) -> str | None:
    """Return the team with the greatest share that has jobs left, and borrows or is the same."""
    able = (
        name for name, group in groups.items() if group and (name == team or cohort.share(name)[1])
    )
    return max(able, key=cohort.share, default=None)
