"""When each resource of a first deployment is done, and what it waited for longest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from hyperpod_cli.aws.assembly import Address
from hyperpod_cli.inspect.critical_path.durations import CALL_SECONDS, duration_of, is_custom
from hyperpod_cli.inspect.critical_path.graph import Graph


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The time of one resource, in seconds after the deployment began.

    Attributes:
        start: When its last need was there.
        done: When CloudFormation goes on to what needs it.
        ready: When it can be used; later than `done` in express mode.
        after: What it waited for longest; None for the first.
    """

    start: float
    done: float
    ready: float
    after: Address | None


def schedule(graph: Graph, *, express: bool = False) -> Mapping[Address, Span]:
    """Return the time of each resource, when nothing waits without need.

    Args:
        graph: The resources.
        express: Whether in CloudFormation's express mode.
    """
    spans = dict[Address, Span]()
    for address in TopologicalSorter(graph.needs).static_order():
        duration = duration_of(graph.types[address])
        ends = {need: spans[need].done for need in graph.needs[address]}
        if duration.waits_for:
            ends |= {
                need: spans[need].ready
                for need in graph.before(address)
                if graph.types[need] in duration.waits_for
            }
        after = _latest(ends)
        start = 0 if after is None else ends[after]
        waited = not express or is_custom(graph.types[address])
        seconds = duration.seconds if waited else min(duration.seconds, CALL_SECONDS)
        spans[address] = Span(
            start=start, done=start + seconds, ready=start + duration.seconds, after=after
        )
    return spans


def longest_chain(spans: Mapping[Address, Span]) -> list[Address]:
    """Return what the whole deployment waits for, from its first step to its last."""
    return chain_to(_latest({address: span.done for address, span in spans.items()}), spans)


def chain_to(address: Address | None, spans: Mapping[Address, Span]) -> list[Address]:
    """Return what a resource waits for, from the first step to the resource itself."""
    chain = list[Address]()
    while address is not None:
        chain.append(address)
        address = spans[address].after
    return chain[::-1]


def span_of(addresses: Iterable[Address], spans: Mapping[Address, Span]) -> tuple[float, float]:
    """Return when the first of some resources starts, and when the last is done."""
    found = [spans[address] for address in addresses]
    return min(span.start for span in found), max(span.done for span in found)


def _latest(ends: Mapping[Address, float]) -> Address | None:
    # Of two that end together, always the same one.
    return max(sorted(ends), key=lambda address: ends[address], default=None)
