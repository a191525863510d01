"""The examples and rules of Kueue's documentation, one by one."""

from dataclasses import dataclass

import pytest

from hyperpod_cli.operate.quotas.cohort import Cohort, Job, Quota, Rules, Team
from hyperpod_cli.operate.quotas.simulation import Run, simulate

CPU, MEMORY = ("default-flavor", "cpu"), ("default-flavor", "memory")
_HOUR = 3600


def team(name: str, cpu: Quota, *, weight: float = 1, memory: int | None = None) -> Team:
    quotas = {CPU: cpu} if memory is None else {CPU: cpu, MEMORY: Quota(nominal=memory)}
    return Team(name=name, quotas=quotas, weight=weight)


def job(
    name: str, owner: str, cpu: int, *, at: int = 0, hours: float = 1, priority: int = 0
) -> Job:
    return Job(
        name=name,
        team=owner,
        priority=priority,
        requests=((CPU, cpu),),
        submitted=at,
        seconds=int(hours * _HOUR),
    )


# https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#borrowing-example
# https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#borrowinglimit
# https://kueue.sigs.k8s.io/docs/concepts/cohort/#configuring-quotas
@pytest.mark.parametrize(
    ("a", "b", "pool", "reach"),
    [
        pytest.param(Quota(nominal=9), Quota(nominal=12), 0, (21, 21), id="both lend"),
        pytest.param(
            Quota(nominal=9, borrowing=1), Quota(nominal=12), 0, (10, 21), id="a borrows 1"
        ),
        pytest.param(Quota(nominal=9), Quota(nominal=12, lending=1), 0, (10, 21), id="b lends 1"),
        pytest.param(Quota(nominal=0), Quota(nominal=0), 12, (12, 12), id="a cohort's own quota"),
        pytest.param(
            Quota(nominal=9), Quota(nominal=12, borrowing=0, lending=0), 0, (9, 12), id="b alone"
        ),
    ],
)
def test_what_teams_reach(a: Quota, b: Quota, pool: int, reach: tuple[int, int]) -> None:
    rules = Rules(teams=(team("a", a), team("b", b)), pool={CPU: pool})
    cohort = Cohort(rules)

    assert (cohort.reach("a", CPU), cohort.reach("b", CPU)) == reach
    for name, most in zip("ab", reach, strict=True):
        assert cohort.fits(name, ((CPU, most),)) or not most
        assert not cohort.fits(name, ((CPU, most + 1),))
        assert [job.name for job in simulate([job("x", name, most + 1)], rules).never] == ["x"]


def test_each_resource_must_fit() -> None:
    """9 CPUs and 36 GiB: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/."""
    cohort = Cohort(Rules(teams=(team("a", Quota(nominal=9), memory=36),)))

    assert cohort.fits("a", ((CPU, 9), (MEMORY, 36)))
    assert not cohort.fits("a", ((CPU, 9), (MEMORY, 37)))


def test_the_other_teams_quota_can_be_borrowed_in_memory_too() -> None:
    """12 + 9 CPUs and 48 + 36 GiB, as in the borrowing example."""
    teams = (
        team("a", Quota(nominal=9), memory=36),
        team("b", Quota(nominal=12), memory=48),
    )
    cohort = Cohort(Rules(teams=teams))

    assert cohort.fits("a", ((CPU, 21), (MEMORY, 84)))
    assert not cohort.fits("a", ((CPU, 21), (MEMORY, 85)))
    # The greatest of the shares counts: 9 of 21 CPUs, 48 of 84 GiB.
    cohort.add("a", ((CPU, 18), (MEMORY, 84)))
    assert cohort.share("a")[1] == pytest.approx(48 / 84)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A rule of the documentation: jobs, and when each ran, in hours.

    Attributes:
        source: Where it is.
        teams: The quotas.
        jobs: The jobs.
        ran: For each time that a job ran, in the order of ends: name, start, end.
        fair: Whether fair sharing is on.
    """

    source: str
    teams: tuple[Team, ...]
    jobs: tuple[Job, ...]
    ran: tuple[tuple[str, float, float], ...]
    fair: bool = False


_TWO = (team("a", Quota(nominal=9)), team("b", Quota(nominal=12)))
_LENDS = team("lends", Quota(nominal=12))
_DOCS = "https://kueue.sigs.k8s.io/docs/concepts"
_PREEMPTION = f"{_DOCS}/preemption"
_KEP = "https://github.com/kubernetes-sigs/kueue/tree/main/keps/1714-fair-sharing"
CASES = {
    "a team's pending jobs go before further ones that borrow": Case(
        source=f"{_DOCS}/cluster_queue/#borrowing-example",
        teams=_TWO,
        jobs=(
            job("a1", "a", 9, hours=2),
            job("b0", "b", 12, hours=1),
            job("a2", "a", 9, at=60),
            job("b1", "b", 12, at=120),
        ),
        ran=(("b0", 0, 1), ("b1", 1, 2), ("a1", 0, 2), ("a2", 2, 3)),
    ),
    "older jobs that cannot be admitted do not block newer ones": Case(
        source=f"{_DOCS}/cluster_queue/#queueing-strategy",
        teams=(team("a", Quota(nominal=4)),),
        jobs=(job("runs", "a", 3), job("big", "a", 4, at=1), job("small", "a", 1, at=2)),
        ran=(
            ("runs", 0, 1),
            ("small", 2 / 3600, 1 + 2 / 3600),
            ("big", 1 + 2 / 3600, 2 + 2 / 3600),
        ),
    ),
    "by priority, then by creation": Case(
        source=f"{_DOCS}/cluster_queue/#queueing-strategy",
        teams=(team("a", Quota(nominal=4)),),
        jobs=(
            job("runs", "a", 4, priority=9),
            job("old", "a", 4, at=1),
            job("new", "a", 4, at=2),
            job("high", "a", 4, at=3, priority=5),
        ),
        ran=(("runs", 0, 1), ("high", 1, 2), ("old", 2, 3), ("new", 3, 4)),
    ),
    "all of a job's pods or none": Case(
        source=f"{_DOCS}/all_or_nothing/",
        teams=(team("a", Quota(nominal=4)),),
        jobs=(job("half", "a", 2), job("whole", "a", 4)),
        ran=(("half", 0, 1), ("whole", 1, 2)),
    ),
    "a lower priority of the same team makes room, and begins again": Case(
        source=f"{_PREEMPTION}/#reasons-for-preemption",
        teams=(team("a", Quota(nominal=4)),),
        jobs=(job("low", "a", 4), job("high", "a", 4, at=1800, priority=1)),
        ran=(("low", 0, 0.5), ("high", 0.5, 1.5), ("low", 1.5, 2.5)),
    ),
    "an equal priority of the same team does not": Case(
        source=f"{_DOCS}/cluster_queue/#preemption",
        teams=(team("a", Quota(nominal=4)),),
        jobs=(job("first", "a", 4), job("second", "a", 4, at=1800)),
        ran=(("first", 0, 1), ("second", 1, 2)),
    ),
    "what is borrowed is given back, whatever its priority": Case(
        source=f"{_DOCS}/cluster_queue/#preemption",
        teams=_TWO,
        jobs=(job("borrows", "a", 21, priority=100), job("own", "b", 12, at=1800)),
        ran=(("borrows", 0, 0.5), ("own", 0.5, 1.5), ("borrows", 1.5, 2.5)),
    ),
    "what is within a quota is not": Case(
        source=f"{_PREEMPTION}/#classic-preemption",
        teams=_TWO,
        jobs=(job("own", "a", 9), job("more", "b", 15, at=1800, priority=100)),
        ran=(("own", 0, 1), ("more", 1, 2)),
    ),
    "without fair sharing nobody makes room for who borrows": Case(
        source=f"{_PREEMPTION}/#preemption-algorithms",
        teams=(team("a", Quota(nominal=0)), team("b", Quota(nominal=0)), _LENDS),
        jobs=(*(job(f"a{n}", "a", 3) for n in range(4)), job("b0", "b", 3, at=1800)),
        ran=(*((f"a{n}", 0, 1) for n in range(4)), ("b0", 1, 2)),
    ),
    "lowest priority first, then what was admitted last": Case(
        source=f"{_PREEMPTION}/#candidates",
        teams=_TWO,
        jobs=(
            job("own", "a", 9, hours=4, priority=9),
            job("high", "a", 4, at=60, priority=2, hours=2),
            job("old", "a", 4, at=120, priority=1, hours=2),
            job("new", "a", 4, at=180, priority=1, hours=2),
            job("b0", "b", 4, at=1800, hours=4),
        ),
        ran=(
            ("new", 0.05, 0.5),
            ("high", 1 / 60, 2 + 1 / 60),
            ("old", 1 / 30, 2 + 1 / 30),
            ("own", 0, 4),
            ("new", 2 + 1 / 60, 4 + 1 / 60),
            ("b0", 0.5, 4.5),
        ),
    ),
    "who need not make room stays": Case(
        source=f"{_PREEMPTION}/#targets",
        teams=_TWO,
        jobs=(
            job("own", "a", 9, hours=3, priority=9),
            job("large", "a", 10, at=60, priority=1, hours=2.5),
            job("small", "a", 2, at=120, hours=2.5),
            job("b0", "b", 10, at=1800),
        ),
        # In the order of candidates `small` is taken first; without `large` it is not needed.
        ran=(
            ("large", 1 / 60, 0.5),
            ("b0", 0.5, 1.5),
            ("small", 1 / 30, 2.5 + 1 / 30),
            ("own", 0, 3),
            ("large", 1.5, 4),
        ),
    ),
    "fair sharing: the second team comes to its half of what is lent": Case(
        source=f"{_KEP}#story-1",
        teams=(team("east", Quota(nominal=2)), team("west", Quota(nominal=2)), _LENDS),
        jobs=tuple(job(f"e{n}", "east", 2, hours=3) for n in range(8))
        + tuple(job(f"w{n}", "west", 2, at=3600, hours=1) for n in range(4)),
        # East keeps its own and 6 of 12; the three that began last make room.
        ran=(
            *((f"e{n}", 0, 1) for n in (7, 6, 5, 4)),
            *((f"w{n}", 1, 2) for n in range(4)),
            *((f"e{n}", 0, 3) for n in range(4)),
            *((f"e{n}", 2, 5) for n in (4, 5, 6, 7)),
        ),
        fair=True,
    ),
    "fair sharing: a job that takes all that is lent makes room for a smaller one": Case(
        source=f"{_PREEMPTION}/#preemption-strategies",
        teams=(team("greedy", Quota(nominal=0)), team("small", Quota(nominal=0)), _LENDS),
        jobs=(job("all", "greedy", 12), job("part", "small", 4, at=1800)),
        ran=(("all", 0, 0.5), ("part", 0.5, 1.5), ("all", 1.5, 2.5)),
        fair=True,
    ),
    "fair sharing: the same size does not": Case(
        source=f"{_PREEMPTION}/#preemption-strategies",
        teams=(team("a", Quota(nominal=0)), team("b", Quota(nominal=0)), _LENDS),
        jobs=(job("first", "a", 12), job("second", "b", 12, at=1800)),
        ran=(("first", 0, 1), ("second", 1, 2)),
        fair=True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_of_the_documentation(name: str) -> None:
    case = CASES[name]
    result = simulate(case.jobs, Rules(teams=case.teams, fair_share=case.fair))

    assert not result.never
    assert sorted(_hours(run) for run in result.runs) == sorted(
        (job_name, round(start, 6), round(end, 6)) for job_name, start, end in case.ran
    )


def _hours(run: Run) -> tuple[str, float, float]:
    return run.job.name, round(run.start / _HOUR, 6), round(run.end / _HOUR, 6)


def test_weights_divide_what_is_lent() -> None:
    """300 GPUs, a backlog in each queue, one queue three times as important as the others.

    Of https://github.com/kubernetes-sigs/kueue/tree/main/keps/1714-fair-sharing#story-3 the part
    below one cohort: 1A and 1B get 30 of 150, 1C gets 90.
    """
    weights = {"1a": 1, "1b": 1, "1c": 3}
    teams = tuple(team(name, Quota(nominal=0), weight=each) for name, each in weights.items())
    jobs = [job(f"{name}-{n}", name, 10, hours=9) for n in range(15) for name in weights]

    result = simulate(jobs, Rules(teams=(*teams, team("cs", Quota(nominal=150)))))

    first = [run.job.team for run in result.runs if run.start == 0]
    assert {name: 10 * first.count(name) for name in weights} == {"1a": 30, "1b": 30, "1c": 90}


def test_a_team_without_weight_is_behind_all_that_have_one() -> None:
    """Its share is infinite: https://kueue.sigs.k8s.io/docs/concepts/fair_sharing/."""
    teams = (
        team("none", Quota(nominal=0), weight=0),
        team("some", Quota(nominal=0), weight=0.1),
        team("lends", Quota(nominal=4)),
    )
    jobs = [job("first", "none", 1), *(job(f"s{n}", "some", 1, at=60) for n in range(4))]

    result = simulate(jobs, Rules(teams=teams))

    assert [(run.job.name, run.start) for run in result.runs if run.made_room_for] == [("first", 0)]
