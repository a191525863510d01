"""What Slurm has in its accounting of a month: how it is asked for, and how that is read. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from hyperpod_cli.terminal.errors import OpsError

# https://slurm.schedmd.com/sacctmgr.html#SECTION_LIST/SHOW-EVENT-FORMAT-OPTIONS
_NODES = ("timestart", "timeend", "clusternodes")
# https://slurm.schedmd.com/sacct.html#SECTION_Job-Accounting-Fields
_JOBS = ("start", "end", "account", "user", "partition", "nodelist", "alloctres")
_TIME = re.compile(r"\d{1,10}")
# What both commands say of a time that is not yet, or never.
_NO_TIME = ("Unknown", "None", "")
# What Slurm says of the nodes of a job that has none, and of one whose nodes it has lost.
_NO_HOSTS = ("None assigned", "(unknown)", "")
_LAST = re.compile(r"(20\d\d-\d\d) (\d{1,10})")
# https://slurm.schedmd.com/tres.html
_TRES = re.compile(r"(cpu|gres/gpu)(:[^=,]+)?=(\d+)")
_NAMES = re.compile(r"(?:\[[^\]]*\]|[^,\[\]])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_LITERAL = re.compile(r"[\w.-]*")
# As many nodes as a list of Slurm has at most.
_MOST_HOSTS = 65_536
_SHOWN = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """Nodes that Slurm had for a time, in seconds since 1970; the end is None while it has them."""

    start: int
    end: int | None
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """What a job had of nodes, for one time that it ran: one that is requeued has several.

    Times are in seconds since 1970, the end None while it runs; account and user may be empty. GPUs
    and CPUs are those that it had of all its nodes together, CPUs None if they are not recorded.
    """

    start: int
    end: int | None
    account: str
    user: str
    partition: str
    hosts: tuple[str, ...]
    gpus: int
    cpus: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Records:
    """What Slurm has of a month such as 2026-11, and when it was asked, in seconds since 1970."""

    month: str
    read_at: int
    registered: tuple[Registered, ...]
    allocations: tuple[Allocation, ...]


def command_for(start: str, end: str) -> str:
    """Return the command that prints the records from a month's first day to that of the next.

    It is for the controller. Its last line, which a failure leaves out, says for which month and
    when.
    """
    shape = "--noheader --parsable2"
    return (
        "(export TZ=UTC SLURM_TIME_FORMAT=%s; "
        f"sacctmgr {shape} show event event=cluster start={start} end={end} "
        f"format={','.join(_NODES)} && "
        f"sacct --allusers --allocations --duplicates {shape} --starttime={start} "
        f"--endtime={end} --format={','.join(_JOBS)} && echo {start[:7]} $(date +%s))"
    )


def read_records(text: str, *, place: str) -> Records:
    """Return what `command_for` has printed; mistakes name the place that it is from."""
    lines = [line.strip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    last = _LAST.fullmatch(lines[-1]) if lines else None
    if last is None:
        raise OpsError(
            f"--records: {place} does not end with a month and a time, so the output of the "
            "command is incomplete; `hyperpod-cdk cost --actual` without --records shows the "
            "command"
        )
    registered: list[Registered] = []
    allocations: list[Allocation] = []
    for number, line in enumerate(lines[:-1], start=1):
        fields = line.split("|")
        try:
            if len(fields) == len(_NODES):
                registered += _registered(fields)
            elif len(fields) >= len(_JOBS):
                allocations += _allocation(fields)
            elif line:
                raise _FieldError(line)
        except _FieldError as wrong:
            raise OpsError(
                f"--records: {place}:{number}: {str(wrong)[:_SHOWN]!r} is not output of the "
                "command; `hyperpod-cdk cost --actual` without --records shows the command"
            ) from None
    return Records(
        month=last[1],
        read_at=int(last[2]),
        registered=tuple(registered),
        allocations=tuple(allocations),
    )


class _FieldError(Exception):
    """A field that Slurm would not print."""


def _registered(fields: Sequence[str]) -> Iterator[Registered]:
    start, end = map(_moment, fields[:2])
    if start is not None:
        yield Registered(start=start, end=end, hosts=tuple(_hosts(fields[2])))


def _allocation(fields: Sequence[str]) -> Iterator[Allocation]:
    start, end = map(_moment, fields[:2])
    # The name of an account may have the character that is between fields.
    account, (user, partition, hosts, tres) = "|".join(fields[2:-4]), fields[-4:]
    if start is None or hosts in _NO_HOSTS:  # it waits, or was cancelled before it ran
        return
    counts = _TRES.findall(tres)
    # Slurm may record GPUs by model as well, or only so.
    gpus = {bool(model): 0 for _, model, _ in counts}
    for name, model, count in counts:
        gpus[bool(model)] += int(count) if name == "gres/gpu" else 0
    yield Allocation(
        start=start,
        end=end,
        account=account,
        user=user,
        partition=partition,
        hosts=tuple(_hosts(hosts)),
        gpus=gpus.get(False) or gpus.get(True, 0),
        cpus=next((int(count) for name, _, count in counts if name == "cpu"), None),
    )


def _moment(field: str) -> int | None:
    if field in _NO_TIME:
        return None
    if _TIME.fullmatch(field) is None:
        raise _FieldError(field)
    return int(field)


def _hosts(field: str) -> Iterator[str]:
    """Yield the names of a list such as `ip-10-1-2-[1-3,10],ip-10-1-3-1`."""
    names = _NAMES.findall(field)
    if ",".join(names) != field:
        raise _FieldError(field)
    for name in names:
        literals, ranges = _BRACKETS.sub("", name), _BRACKETS.findall(name)
        if _LITERAL.fullmatch(literals) is None:
            raise _FieldError(field)
        numbers = [_numbers(item) for item in ranges]
        if prod(map(len, numbers)) > _MOST_HOSTS:
            raise _FieldError(field)
        pattern = _BRACKETS.sub("{}", name)
        yield from (pattern.format(*chosen) for chosen in product(*numbers))


def _numbers(ranges: str) -> list[str]:
    padded: list[str] = []
    for part in ranges.split(","):
        numbers = _RANGE.fullmatch(part)
        if numbers is None or int(numbers[2] or numbers[1]) < int(numbers[1]):
            raise _FieldError(ranges)
        low, high = numbers[1], numbers[2] or numbers[1]
        padded += [f"{number:0{len(low)}}" for number in range(int(low), int(high) + 1)]
    return padded
