"""What holds of every simulation, whatever the jobs and quotas."""

import random
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cli.operate.quotas.cohort import Cohort, Job, Kind, Quota, Rules, Team
from hyperpod_cli.operate.quotas.simulation import Run, Simulation, simulate

GPU, TRAINIUM = ("ml.p5.48xlarge", "accelerators"), ("ml.trn1.32xlarge", "accelerators")
_LIMIT = st.none() | st.integers(0, 8)


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Draw the quotas of up to four teams."""
    quota = st.builds(Quota, nominal=st.integers(0, 8), borrowing=_LIMIT, lending=_LIMIT)
    teams = tuple(
        Team(
            name=f"team-{number}",
            quotas={GPU: draw(quota), TRAINIUM: draw(quota)},
            weight=draw(st.sampled_from([0, 1, 3])),
            preempts_own=draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 4)))
    )
    pool = {GPU: draw(st.integers(0, 4))}
    return Rules(teams=teams, pool=pool, fair_share=draw(st.booleans()))


@st.composite
def settled(draw: st.DrawFn) -> tuple[Rules, list[Job], int | None]:
    """Draw quotas, jobs, and how often jobs save where they are."""
    quotas = draw(rules())
    jobs = [
        Job(
            name=f"job-{number}",
            team=draw(st.sampled_from(quotas.teams)).name,
            priority=draw(st.sampled_from([0, 10, 75])),
            requests=((draw(st.sampled_from([GPU, TRAINIUM])), draw(st.integers(1, 10))),),
            submitted=draw(st.integers(0, 30)),
            seconds=draw(st.integers(1, 30)),
        )
        for number in range(draw(st.integers(1, 25)))
    ]
    return quotas, jobs, draw(st.none() | st.integers(1, 9))


@settings(max_examples=150, deadline=None)
@given(settled())
def test_no_quota_is_exceeded_and_no_job_is_lost(
    drawn: tuple[Rules, list[Job], int | None],
) -> None:
    quotas, jobs, checkpoint = drawn
    result = simulate(jobs, quotas, checkpoint=checkpoint)

    ended = [run.job for run in result.runs if run.made_room_for is None]
    assert sorted(job.name for job in (*ended, *result.never)) == sorted(job.name for job in jobs)
    for job in ended:
        assert _done(result, job) == job.seconds
    for _, running in _moments(result):
        cohort = Cohort(quotas)
        for job in running:
            cohort.add(job.team, job.requests)
        for team in quotas.teams:
            for kind in team.quotas:
                assert cohort.used(team.name, kind) <= cohort.reach(team.name, kind)
        for kind in (GPU, TRAINIUM):
            there = sum(team.quotas[kind].nominal for team in quotas.teams)
            assert _used(running, kind) <= there + quotas.pool.get(kind, 0)


@settings(max_examples=150, deadline=None)
@given(settled())
def test_nothing_waits_that_fits(drawn: tuple[Rules, list[Job], int | None]) -> None:
    quotas, jobs, checkpoint = drawn
    result = simulate(jobs, quotas, checkpoint=checkpoint)

    for moment, running in _moments(result):
        cohort = Cohort(quotas)
        for job in running:
            cohort.add(job.team, job.requests)
        over = {id(job) for job in (*running, *result.never)}
        over |= {
            id(run.job) for run in result.runs if run.made_room_for is None and run.end <= moment
        }
        for job in jobs:
            if id(job) not in over and job.submitted <= moment:
                assert not cohort.fits(job.team, job.requests), (moment, job)


@settings(max_examples=60, deadline=None)
@given(settled())
def test_only_what_may_make_room_does(drawn: tuple[Rules, list[Job], int | None]) -> None:
    quotas, jobs, checkpoint = drawn
    result = simulate(jobs, quotas, checkpoint=checkpoint)

    assert simulate(jobs, quotas, checkpoint=checkpoint) == result
    teams = {team.name: team for team in quotas.teams}
    for run in result.runs:
        first = run.made_room_for
        if first is None:
            assert not run.lost
        elif first.team == run.job.team:
            assert teams[first.team].preempts_own
            assert run.job.priority < first.priority
        if checkpoint is not None:
            assert run.lost < checkpoint


def test_ten_thousand_jobs_take_seconds() -> None:
    draw = random.Random(27)  # noqa: S311 - no secret
    teams = tuple(
        Team(name=f"t{n}", quotas={GPU: Quota(nominal=32, borrowing=160)}, weight=n)
        for n in range(6)
    )
    submitted, jobs = 0.0, []
    for number in range(10_000):
        submitted += draw.expovariate(1 / 900)
        request = (GPU, draw.choice([1, 2, 4, 8, 8, 16, 32]))
        jobs.append(
            Job(
                name=str(number),
                team=f"t{draw.randrange(6)}",
                priority=draw.choice([10, 75, 100]),
                requests=(request,),
                submitted=int(submitted),
                seconds=60 + int(draw.expovariate(1 / 7200)),
            )
        )
    began = time.process_time()
    result = simulate(jobs, Rules(teams=teams))

    assert sum(run.made_room_for is None for run in result.runs) == len(jobs)
    assert time.process_time() - began < 20


@pytest.mark.parametrize(("checkpoint", "lost", "end"), [(None, 50, 210), (20, 10, 170)])
def test_a_job_goes_on_from_its_last_checkpoint(
    checkpoint: int | None, lost: int, end: int
) -> None:
    team = Team(name="a", quotas={GPU: Quota(nominal=1)})
    low = Job(name="low", team="a", priority=0, requests=((GPU, 1),), submitted=0, seconds=100)
    jobs = [low, replace(low, name="high", priority=1, submitted=50, seconds=60)]
    result = simulate(jobs, Rules(teams=(team,)), checkpoint=checkpoint)

    assert (result.runs[0].lost, result.runs[-1].end) == (lost, end)


def _done(result: Simulation, job: Job) -> int:
    return sum(run.end - run.start - run.lost for run in result.runs if run.job is job)


def _moments(result: Simulation) -> Iterator[tuple[int, list[Job]]]:
    """Yield each time at which something begins, with what runs then."""
    for moment in sorted({run.start for run in result.runs}):
        yield moment, [run.job for run in result.runs if _runs_at(run, moment)]


def _runs_at(run: Run, moment: int) -> bool:
    return run.start <= moment < run.end


def _used(running: list[Job], kind: Kind) -> int:
    return sum(amount for job in running for each, amount in job.requests if each == kind)
