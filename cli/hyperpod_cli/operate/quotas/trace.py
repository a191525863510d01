"""A plain list of jobs: a CSV file with a line each."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from hyperpod_cdk.facts.instance_types import instance_types
from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cli.operate.quotas.cohort import Job
from hyperpod_cli.operate.quotas.configured import Governed, Nodes
from hyperpod_cli.terminal.errors import LinesError, OpsError

_NEEDED = ("submitted", "team", "instance_type", "minutes")
_COLUMNS = (*_NEEDED, "priority", "nodes", "accelerators", "name")
_MOST_MINUTES = 60 * 24 * 366 * 10
_MOST_AMOUNT = 1_000_000
_SHOWN = 10
_MOST_PRIORITY = 100
_PRIORITY_SUFFIX = "-priority"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A line of the list.

    Attributes:
        submitted: When, in seconds; since 1970 if the list has dates.
        priority: Name of a priority, a number, or nothing.
        nodes: How many of them it takes; None if it says how many accelerators.
    """

    place: str
    name: str
    submitted: int
    team: str
    priority: str
    instance_type: str
    nodes: int | None
    accelerators: int | None
    seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """A list of jobs.

    Attributes:
        has_dates: Whether it says when in dates, or in minutes.
    """

    path: Path
    jobs: tuple[Wanted, ...]
    has_dates: bool

    def moment(self, second: int) -> str:
        """Return a time of the list as it is shown; refuse one after the year 9999."""
        if not self.has_dates:
            return f"minute {second / 60:g}"
        try:
            return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M UTC")
        except (OverflowError, ValueError):
            raise OpsError(
                f"--jobs: {self.path}: its jobs end after the year 9999; submit them earlier"
            ) from None

    def zoned(self, second: int) -> str:
        """Return a time of the list as JSON has it; a date is in UTC."""
        moment = self.moment(second)
        return f"{moment.removesuffix(' UTC').replace(' ', 'T')}Z" if self.has_dates else moment


class _LineError(Exception):
    """What is wrong with a line."""


# A hundred thousand jobs.
_MOST_BYTES = 16 * 1024 * 1024


def read_trace(path: Path) -> Trace:
    """Return the jobs of a file, or refuse it: a line for each of the first mistakes."""
    try:
        text = given_text(path, most_bytes=_MOST_BYTES, encoding="utf-8-sig")
        reader = csv.reader(StringIO(text, newline=""), strict=True)
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except OSError as error:
        raise OpsError(f"--jobs: {path}: {error.strerror}; name a file of jobs") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise OpsError(f"--jobs: {path}: is no CSV file in UTF-8 ({error})") from None
    rows = [(line, row) for line, row in rows if any(row)]
    if not rows:
        raise OpsError(f"--jobs: {path}: is empty; its first line names {', '.join(_COLUMNS)}")
    (first, header), *rest = rows
    _check_header(header, place=f"{path}:{first}")
    has_dates = bool(rest) and not _is_number(dict(zip(header, rest[0][1], strict=False)))
    jobs, mistakes = [], []
    for line, row in rest:
        try:
            jobs.append(_wanted(header, row, place=f"{path}:{line}", has_dates=has_dates))
        except _LineError as error:
            mistakes.append(f"{path}:{line}: {error}")
    _refuse(mistakes)
    if not jobs:
        raise OpsError(f"--jobs: {path}: names no job; write a line for each")
    return Trace(path=path, jobs=tuple(jobs), has_dates=has_dates)


def jobs_of(trace: Trace, quotas: Governed) -> list[Job]:
    """Return the jobs as the quotas of a configuration count them; refuse names that it lacks."""
    jobs, mistakes = [], []
    teams = [team.name for team in quotas.rules.teams]
    for wanted in trace.jobs:
        try:
            jobs.append(
                Job(
                    name=wanted.name,
                    team=_known("team", wanted.team, teams, where=quotas.name),
                    priority=_priority(wanted.priority, quotas.priorities, where=quotas.name),
                    requests=(_request(wanted, quotas),),
                    submitted=wanted.submitted,
                    seconds=wanted.seconds,
                )
            )
        except _LineError as error:
            mistakes.append(f"{wanted.place}: {error}")
    _refuse(mistakes)
    return jobs


def _refuse(mistakes: Sequence[str]) -> None:
    if mistakes:
        more = len(mistakes) - _SHOWN
        lines = [*mistakes[:_SHOWN], *([f"and {more} more lines"] if more > 0 else [])]
        raise LinesError("\n".join(" ".join(line.split()) for line in lines))


def _check_header(header: Sequence[str], *, place: str) -> None:
    missing = [name for name in _NEEDED if name not in header]
    if not {"nodes", "accelerators"} & {*header}:
        missing.append("nodes or accelerators")
    unknown = [name for name in header if name not in _COLUMNS]
    twice = [name for name in _COLUMNS if header.count(name) > 1]
    if missing:
        raise OpsError(f"{place}: the first line lacks the column {', '.join(missing)}")
    if unknown or twice:
        wrong = (unknown or twice)[0]
        why = "is no column; known are" if unknown else "is a column twice; each is there once of"
        raise OpsError(f"{place}: {wrong!r} {why} {', '.join(_COLUMNS)}")


def _is_number(row: Mapping[str, str]) -> bool:
    try:
        float(row.get("submitted", ""))
    except ValueError:
        return False
    return True


def _wanted(header: Sequence[str], row: Sequence[str], *, place: str, has_dates: bool) -> Wanted:
    if len(row) != len(header):
        raise _LineError(f"has {len(row)} cells, and the first line {len(header)}")
    cells = dict(zip(header, row, strict=True))
    amounts = {
        unit: _amount(unit, cells[unit]) for unit in ("nodes", "accelerators") if cells.get(unit)
    }
    if len(amounts) != 1:
        raise _LineError("must say either nodes or accelerators")
    minutes = _minutes("minutes", cells["minutes"])
    if minutes <= 0:
        raise _LineError(f"minutes: {cells['minutes']!r} must be more than 0")
    if cells["instance_type"] not in instance_types():
        raise _LineError(
            f"instance_type: {cells['instance_type']!r} is not a HyperPod instance type, such as "
            "ml.p5.48xlarge"
        )
    when = cells["submitted"]
    return Wanted(
        place=place,
        name=cells.get("name") or f"line {place.rpartition(':')[2]}",
        submitted=_date(when) if has_dates else round(60 * _minutes("submitted", when)),
        team=cells["team"],
        priority=cells.get("priority", ""),
        instance_type=cells["instance_type"],
        nodes=amounts.get("nodes"),
        accelerators=amounts.get("accelerators"),
        seconds=max(1, round(60 * minutes)),
    )


def _date(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _LineError(
            f"submitted: {text!r} must be a time, such as 2026-11-02T08:30, or minutes, and the "
            "same on all lines"
        ) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _minutes(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MOST_MINUTES:
        raise _LineError(f"{column}: {text!r} must be minutes, 0 to {_MOST_MINUTES:,}")
    return value


def _amount(unit: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:9]) <= _MOST_AMOUNT:
        raise _LineError(f"{unit}: {text!r} must be a whole number, 1 to {_MOST_AMOUNT:,}")
    return int(text)


def _known(column: str, value: str, known: Sequence[str], *, where: str) -> str:
    if value not in known:
        raise _LineError(f"{column}: {value!r} is none of {where}: {', '.join(known)}")
    return value


def _priority(text: str, known: Mapping[str, int], *, where: str) -> int:
    """Return what a priority weighs; a job without one has 0, as in Kueue."""
    if not text:
        return 0
    if text.isascii() and text.isdecimal() and int(text[:4]) <= _MOST_PRIORITY:
        return int(text)
    name = text.removesuffix(_PRIORITY_SUFFIX)
    return known[_known("priority", name, [*known], where=where)]


def _request(wanted: Wanted, quotas: Governed) -> tuple[tuple[str, str], int]:
    name = _known("instance_type", wanted.instance_type, [*quotas.nodes], where=quotas.name)
    nodes: Nodes = quotas.nodes[name]
    if wanted.nodes is not None:
        return nodes.kind, wanted.nodes * nodes.per_node
    if nodes.unit != "accelerators":
        raise _LineError(f"accelerators: {name} has none; give nodes")
    return nodes.kind, wanted.accelerators or 0
