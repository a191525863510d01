"""What nodes do together: an all-reduce of all, and, where that is slow, of fewer and fewer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from hyperpod_cdk.facts.fabric import BandwidthFloor
from hyperpod_cli.operate.validation.bisection import Diagnosis, Nodes, next_step
from hyperpod_cli.operate.validation.findings import Finding, Result
from hyperpod_cli.operate.validation.parsing import EFA, TCP, nccl_run
from hyperpod_cli.operate.validation.recorded import Measurement, Recorded
from hyperpod_cli.operate.validation.work import JobOutcome

CHECK = "NCCL all-reduce"
# Without a published floor, a pair is compared with the others: a choice, not a fact of AWS.
PART_OF_MEDIAN = 0.8
_MOST_PAIRS = 16
_PAIR = 2

Measure = Callable[[Sequence[Nodes]], Iterable[Measurement]]
"""Measures groups at the same time, and yields each when it is done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What a group is to reach.

    Attributes:
        compared: The bandwidth that stands in for it, in GB/s; None if pairs cannot be compared.
    """

    floor: BandwidthFloor | None
    compared: float | None

    @property
    def least(self) -> float | None:
        """The least bus bandwidth in GB/s; None if none is known."""
        return self.floor.gb_per_second if self.floor is not None else self.compared

    def finding(
        self, check: str, subject: str, found: str, *, failed: bool = True, advice: str = ""
    ) -> Finding:
        """Return what was found of it."""
        return Finding(
            check=check,
            subject=subject,
            result=Result.FAILED if failed else Result.OK,
            found=found,
            expected=str(self),
            advice=advice,
        )

    def __str__(self) -> str:
        """Return it in words."""
        if self.floor is not None:
            return f"at least {self.floor.gb_per_second:g} GB/s, {EFA}"
        if self.compared is None:
            return f"{EFA}; no published floor"
        part = f"{PART_OF_MEDIAN:.0%} of the pairs' median: {self.compared:.1f} GB/s"
        return f"{EFA}; no published floor; {part}"


class UnmeasuredError(Exception):
    """A job ended for a reason that says nothing about its nodes."""


def measurement(nodes: Nodes, outcome: JobOutcome) -> Measurement:
    """Return what the log of a group's all-reduce says.

    UnmeasuredError: it ended for a reason that says nothing about the nodes.
    """
    run = nccl_run(line for lines in outcome.lines.values() for line in lines)
    if run.bus_bandwidth is None and not outcome.is_of_nodes:
        raise UnmeasuredError(outcome.error)
    error = outcome.error if outcome.is_of_nodes else ""
    error = error or (f"{run.wrong} wrong values" if run.wrong else "")
    if not error and run.bus_bandwidth is None:
        error = run.warning or "nccl-tests measured nothing"
    on_tcp = {outcome.node_of.get(host, host) for host in run.on_tcp}
    return Measurement(
        nodes=nodes,
        bus_bandwidth=run.bus_bandwidth,
        provider="+".join(sorted(run.providers)),
        on_tcp=tuple(sorted(on_tcp)),
        error=error,
    )


def fabric_findings(
    nodes: Nodes, *, floor: BandwidthFloor | None, recorded: Recorded, measure: Measure
) -> list[Finding]:
    """Measure what nodes of one type do together, and find those that are slow.

    Nodes of a switch are next to each other. `recorded` has what was measured before, and gets what
    is measured.
    """
    known = {result.nodes: result for result in recorded.measured}

    def run(groups: Sequence[Nodes]) -> None:
        recorded.rounds += 1
        for result in measure(groups):
            known[result.nodes] = result
            recorded.measured.append(result)
            recorded.save()

    if nodes not in known:
        run([nodes])
    whole = known[nodes]
    # Which nodes they are is in the log, or it is all of them, for one reason.
    if whole.provider not in ("", EFA):
        return [*_not_over_efa(whole, floor)]
    while True:
        expected = Expected(floor=floor, compared=_compared(nodes, known))
        slow = {group: _is_slow(result, expected) for group, result in known.items()}
        step = next_step(nodes, slow, only_pairs=floor is None and not whole.error)
        if isinstance(step, Diagnosis):
            break
        run(step)
    return [
        _finding(whole, _all(nodes), expected),
        *_pairs(nodes, known, expected),
        *_diagnosed(step, known, expected),
    ]


def _compared(nodes: Nodes, known: Mapping[Nodes, Measurement]) -> float | None:
    """Return what a pair is to reach where no floor is published."""
    bandwidths = [
        result.bus_bandwidth
        for group in zip(nodes[::2], nodes[1::2], strict=False)
        if (result := known.get(group)) is not None and result.bus_bandwidth is not None
    ]
    return PART_OF_MEDIAN * median(bandwidths) if len(bandwidths) > 1 else None


def _is_slow(run: Measurement, expected: Expected) -> bool:
    least = expected.least
    return (
        bool(run.error)
        or run.provider != EFA
        or (least is not None and (run.bus_bandwidth or 0.0) < least)
    )


def _not_over_efa(whole: Measurement, floor: BandwidthFloor | None) -> Iterator[Finding]:
    expected = Expected(floor=floor, compared=None)
    advice = (
        "NCCL did not use EFA: look whether the image has aws-ofi-nccl and libfabric for EFA, and "
        "whether the nodes' security group lets all traffic from and to itself through "
        "(docs: validate-nodes)"
    )
    yield _finding(whole, _all(whole.nodes), expected, advice=advice)
    if 0 < len(whole.on_tcp) < len(whole.nodes):
        for node in whole.on_tcp:
            yield Finding(
                check="NCCL provider",
                subject=node,
                result=Result.FAILED,
                found=f"{TCP}, while other nodes use EFA",
                expected=EFA,
                advice=f"hyperpod-cdk replace {node}",
            )


def _finding(run: Measurement, subject: str, expected: Expected, *, advice: str = "") -> Finding:
    failed = (
        _is_slow(run, expected)
        if len(run.nodes) == _PAIR or expected.floor
        else (bool(run.error) or run.provider != EFA)
    )
    return expected.finding(CHECK, subject, _words(run), failed=failed, advice=advice)


def _words(run: Measurement) -> str:
    bandwidth = "" if run.bus_bandwidth is None else f"{run.bus_bandwidth:.1f} GB/s"
    provider = f"provider {run.provider or 'unknown: the log does not say'}"
    return ", ".join(part for part in (bandwidth, provider, run.error) if part)


def _all(nodes: Nodes) -> str:
    return " + ".join(nodes) if len(nodes) <= _PAIR else f"all {len(nodes)} nodes"


def _pairs(
    nodes: Nodes, known: Mapping[Nodes, Measurement], expected: Expected
) -> Iterator[Finding]:
    pairs = [
        pair for pair in known.values() if len(pair.nodes) == _PAIR and {*pair.nodes} < {*nodes}
    ]
    fast = [pair for pair in pairs if not _is_slow(pair, expected)]
    if len(fast) > _MOST_PAIRS:
        bandwidths = sorted(pair.bus_bandwidth or 0.0 for pair in fast)
        between = f"{bandwidths[0]:.1f} to {bandwidths[-1]:.1f} GB/s, provider {EFA}"
        yield expected.finding(CHECK, f"{len(fast)} pairs", between, failed=False)
    for pair in pairs:
        if pair not in fast or len(fast) <= _MOST_PAIRS:
            yield _finding(pair, _all(pair.nodes), expected)


def _diagnosed(
    diagnosis: Diagnosis, known: Mapping[Nodes, Measurement], expected: Expected
) -> Iterator[Finding]:
    for node in diagnosis.slow:
        pairs = [pair for group, pair in known.items() if node in group and len(group) == _PAIR]
        words = "; ".join(
            f"{_words(pair)} with {next(name for name in pair.nodes if name != node)}"
            for pair in pairs
        )
        advice = f"hyperpod-cdk replace {node}"
        yield expected.finding("slow node", node, words, advice=advice)
    for one, two in diagnosis.links:
        yield expected.finding(
            "slow link",
            f"{_span(one)} with {_span(two)}",
            "slow together, while each side is fast by itself",
            advice="a link between nodes is slow: let jobs run on one side of it, and tell AWS "
            "Support the names of the nodes and the switches above them (labels "
            "topology.k8s.aws/network-node-layer-N)",
        )
    if diagnosis.unresolved:
        yield expected.finding(
            "slow node",
            _span(diagnosis.unresolved),
            "no two of them are fast together, so no single node can be named",
            advice="what all nodes share is at fault: the image, the security group or the "
            "placement; or more than half of the nodes are",
        )


def _span(nodes: Nodes) -> str:
    if len(nodes) == 1:
        return nodes[0]
    return f"{nodes[0]} to {nodes[-1]} ({len(nodes)} nodes)"
