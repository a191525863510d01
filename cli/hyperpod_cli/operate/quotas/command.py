"""Compares quotas by what they do to a list of jobs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from hyperpod_cdk import load_config
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.operate.quotas.cohort import Cohort, Job
from hyperpod_cli.operate.quotas.configured import governed
from hyperpod_cli.operate.quotas.measures import ALL, Measures, SimulatedQuotas, measures
from hyperpod_cli.operate.quotas.picture import drawn
from hyperpod_cli.operate.quotas.simulation import simulate
from hyperpod_cli.operate.quotas.trace import Trace, jobs_of, read_trace
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_cli.terminal.console import console, print_json, table
from hyperpod_cli.terminal.errors import OpsError

CONFIGURED, PROPOSED = "configured", "proposed"
_TEXTS = ("team", "quotas")
_NUMBERS = (
    "jobs",
    "mean wait h",
    "p95 wait h",
    "borrowed node-h",
    "made room",
    "lost node-h",
    "idle node-h",
    "of it while jobs wait",
    "idle USD",
)


def run(
    *,
    jobs: Path,
    config: Path,
    proposed: Path | None,
    picture: Path | None,
    checkpoint_minutes: int | None,
    as_json: bool,
) -> None:
    """Simulate the jobs with each configuration's quotas, and show the results."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise OpsError(f"--picture: {str(picture)!r} must end with .svg")
    trace = read_trace(jobs)
    files = {CONFIGURED: config} | ({} if proposed is None else {PROPOSED: proposed})
    checkpoint = 60 * checkpoint_minutes if checkpoint_minutes else None
    outcomes = [
        _outcome(label, path, trace, checkpoint=checkpoint) for label, path in files.items()
    ]
    if picture is not None:
        _draw(outcomes, trace, picture)
    if as_json:
        print_json(_as_data(outcomes, trace))
        return
    out = console()
    for line in [*_heading(outcomes, trace)]:  # a date that cannot be is refused before
        out.print(line)
    out.print(_table(outcomes))
    for line in (*_verdict(outcomes), *_notes(outcomes)):
        out.print(line)
    if picture is not None:
        out.print(f"wrote {picture}")


def _outcome(label: str, path: Path, trace: Trace, *, checkpoint: int | None) -> SimulatedQuotas:
    config = load_config(path)
    quotas = governed(config, name=str(path), region=known_region(config))
    jobs = jobs_of(trace, quotas)
    simulation = simulate(jobs, quotas.rules, checkpoint=checkpoint)
    return SimulatedQuotas(
        label=label,
        quotas=quotas,
        jobs=jobs,
        simulation=simulation,
        rows=measures(jobs, simulation, quotas),
    )


def _draw(outcomes: Sequence[SimulatedQuotas], trace: Trace, picture: Path) -> None:
    if not any(outcome.simulation.runs for outcome in outcomes):
        raise OpsError(f"--picture: no job of {trace.path} ever runs; there is nothing to draw")
    try:
        replace_file(picture, drawn(outcomes, trace), mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"--picture: {error}") from None


def _heading(outcomes: Sequence[SimulatedQuotas], trace: Trace) -> Iterator[str]:
    first = min(job.submitted for job in trace.jobs)
    yield f"{trace.path}: {_counted(len(trace.jobs))}, the first at {trace.moment(first)}"
    for outcome in outcomes:
        way = "by weights" if outcome.quotas.rules.fair_share else "first come, first served"
        end = outcome.end
        last = "no job ever runs" if end is None else f"the last job ends at {trace.moment(end)}"
        yield f"{outcome.title}, borrowing {way}; {last}"
    yield ""


def _counted(jobs: int) -> str:
    return "1 job" if jobs == 1 else f"{jobs} jobs"


def _table(outcomes: Sequence[SimulatedQuotas]) -> Table:
    """Return a row for each team and configuration, those of a team together."""
    made = table(*_TEXTS, *_NUMBERS, numbers=_NUMBERS)
    names = list(dict.fromkeys(row.team for outcome in outcomes for row in outcome.rows))
    # The same order where the proposed quotas have further teams.
    for name in sorted(names, key=lambda name: name == ALL):
        for outcome in outcomes:
            for row in outcome.rows:
                if row.team == name:
                    made.add_row(*_cells(outcome, row))
    return made


def _cells(outcome: SimulatedQuotas, row: Measures) -> Iterator[str]:
    yield row.team
    yield outcome.label
    yield f"{row.jobs}"
    for hours in (row.mean_wait_hours, row.p95_wait_hours, row.borrowed_node_hours):
        yield f"{hours:,.1f}"
    yield f"{row.preemptions}"
    for hours in (row.lost_node_hours, row.idle_node_hours, row.idle_waiting_node_hours):
        yield f"{hours:,.1f}"
    yield _dollars(outcome, row)


def _dollars(outcome: SimulatedQuotas, row: Measures) -> str:
    if row.idle_usd is None:
        return "unknown"
    about = any(nodes.is_estimate and nodes.count for nodes in outcome.quotas.divided)
    return f"{'about ' if about and row.idle_usd else ''}{row.idle_usd:,.0f}"


def _verdict(outcomes: Sequence[SimulatedQuotas]) -> Iterator[str]:
    """Say in a sentence what the proposed quotas would change."""
    if len(outcomes) == 1:
        return
    now, then = (next(row for row in outcome.rows if row.team == ALL) for outcome in outcomes)
    yield ""
    yield (
        f"With the proposed quotas: mean wait {now.mean_wait_hours:,.1f} -> "
        f"{then.mean_wait_hours:,.1f} h, jobs made room {now.preemptions} -> {then.preemptions} "
        f"times, idle {now.idle_node_hours:,.1f} -> {then.idle_node_hours:,.1f} node-hours "
        f"({_dollars(outcomes[0], now)} -> {_dollars(outcomes[1], then)} USD)"
    )


def _notes(outcomes: Sequence[SimulatedQuotas]) -> Iterator[str]:
    """Say which jobs never run, and what is not simulated."""
    for outcome in outcomes:
        for job in outcome.simulation.never:
            ((kind, amount),) = job.requests
            reach = _reach(outcome, job)
            yield (
                f"never runs, {outcome.label}: {job.name} of {job.team} takes {amount} "
                f"{kind[1]} of {kind[0]}, and the team can have {reach} at most: its quota, what "
                "it may borrow, and what others lend"
            )
        for line in outcome.quotas.left_out:
            yield f"not simulated, {outcome.label}: {line}"


def _reach(outcome: SimulatedQuotas, job: Job) -> int:
    ((kind, _),) = job.requests
    return Cohort(outcome.quotas.rules).reach(job.team, kind)


def _as_data(outcomes: Sequence[SimulatedQuotas], trace: Trace) -> dict[str, object]:
    return {
        outcome.label: {
            "config": outcome.quotas.name,
            "ends": None if outcome.end is None else trace.zoned(outcome.end),
            "teams": outcome.rows,
            "never": [job.name for job in outcome.simulation.never],
            "runs": [
                {
                    "job": run.job.name,
                    "team": run.job.team,
                    "start": trace.zoned(run.start),
                    "end": trace.zoned(run.end),
                    "made_room_for": run.made_room_for and run.made_room_for.name,
                }
                for run in outcome.simulation.runs
            ],
            "not_simulated": [*outcome.quotas.left_out],
        }
        for outcome in outcomes
    }
