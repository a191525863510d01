"""Reads what the checks wrote: lines of the program that runs on nodes, and logs of NCCL.

Formats: https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu,
https://github.com/aws/aws-ofi-nccl/blob/master/src/nccl_ofi_net.cpp,
https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperpod_cli.operate.validation.findings import Finding, Result

EFA = "efa"
TCP = "TCP"

# Open MPI's --tag-output.
_TAG = re.compile(r"^\[\d+,\d+\]<std(?:out|err)>:\s?")
_OF_NCCL = re.compile(r"^(?P<host>[\w.-]+):\d+:\d+ \[\d+\] NCCL (?:INFO|WARN) (?P<text>.*)")
_PROVIDER = re.compile(r"NET/OFI Selected provider is ([\w;-]+)", re.IGNORECASE)
_SOCKETS = re.compile(r"Using network Socket|via NET/Socket")
_OTHER = re.compile(r"Using network (?!AWS Libfabric|Libfabric|OFI)(\S+)")
_OUT_OF_BOUNDS = re.compile(r"# Out of bounds values : (\d+)")
# size count type redop root, then time algbw busbw #wrong, out of place and in place. Older
# versions have no root.
_COLUMNS, _OLD_COLUMNS = 13, 12
_BANDWIDTHS = (-6, -2)
_WRONG = (-5, -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class NcclRun:
    """What all_reduce_perf measured, and over what.

    Attributes:
        providers: What carried the data between nodes, such as efa or TCP; empty if the log does
            not say.
        on_tcp: Hosts that used TCP, as NCCL names them.
        bus_bandwidth: The best of all sizes in GB/s; None if none was measured.
    """

    providers: frozenset[str]
    on_tcp: frozenset[str]
    bus_bandwidth: float | None
    wrong: int
    warning: str


def nccl_run(lines: Iterable[str]) -> NcclRun:
    """Return what the log of an all_reduce_perf says: of all processes, with NCCL_DEBUG=INFO."""
    providers: set[str] = set()
    on_tcp: set[str] = set()
    bandwidths: list[float] = []
    wrong, warning = 0, ""
    for tagged in lines:
        line = _TAG.sub("", tagged.rstrip())
        logged = _OF_NCCL.match(line)
        if logged is None:
            measured, bad = _row(line)
            bandwidths += measured
            out_of_bounds = _OUT_OF_BOUNDS.search(line)
            wrong = max(wrong, bad, int(out_of_bounds[1]) if out_of_bounds else 0)
            continue
        text = logged["text"]
        if provider := _PROVIDER.search(text):
            providers.add(provider[1].lower())
        if _SOCKETS.search(text):
            providers.add(TCP)
            on_tcp.add(logged["host"])
        elif other := _OTHER.search(text):
            providers.add(other[1])
        if " NCCL WARN " in line and not warning:
            warning = text
    return NcclRun(
        providers=frozenset(providers),
        on_tcp=frozenset(on_tcp),
        bus_bandwidth=max(bandwidths, default=None),
        wrong=wrong,
        warning=warning,
    )


def _row(line: str) -> tuple[list[float], int]:
    """Return the bus bandwidths of a row of the results, and how many values are wrong."""
    cells = line.split()
    if len(cells) not in (_COLUMNS, _OLD_COLUMNS) or not (cells[0] + cells[1]).isdigit():
        return [], 0
    try:
        measured = [float(cells[place]) for place in _BANDWIDTHS]
    except ValueError:
        return [], 0
    # Older versions write an error as a float there, which is no count.
    return measured, sum(int(cells[place]) for place in _WRONG if cells[place].isdigit())


def node_findings(lines: Iterable[str], *, subject: str) -> Iterator[Finding]:
    """Yield the findings of the program that runs on nodes; other lines are passed over."""
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            record = json.loads(line)
            yield Finding(
                check=str(record["check"]),
                subject=subject,
                result=Result(record["result"]),
                found=str(record["found"]),
                expected=str(record["expected"]),
            )
        except (ValueError, KeyError, TypeError):
            continue
