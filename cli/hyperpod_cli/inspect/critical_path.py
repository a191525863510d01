"""The longest chain of resources of a first deployment: what needs what, and how long it takes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from hyperpod_cli.aws.assembly import (
    CDK_METADATA,
    Address,
    construct_paths,
    reached,
    stacks_by_name,
    stacks_in,
)
from hyperpod_cli.aws.cluster_template import CLUSTER_TYPES
from hyperpod_cli.inspect.resource_types import STACK, resource_type

CALL_SECONDS = 5
"""How long express mode takes for a resource that it does not wait for; assumed."""


def is_custom(name: str) -> bool:
    """Tell whether CloudFormation waits for a resource in express mode, too.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
    """
    return name.startswith("Custom::") or name == STACK


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The resources of a deployment, and the start of each of its stacks.

    A name is the path of the construct in its stack, or the logical ID if the template has no
    paths. Needs are what must be there before, directly.
    """

    types: Mapping[Address, str]
    names: Mapping[Address, str]
    needs: Mapping[Address, frozenset[Address]]

    @property
    def stacks(self) -> list[str]:
        """The names of the stacks."""
        return [address.stack for address in self.types if address == start_of(address.stack)]

    def of_type(self, resource_type: str) -> list[Address]:
        """Return the resources of a type."""
        return [address for address, found in self.types.items() if found == resource_type]

    def before(self, address: Address, *, across_stacks: bool = True) -> frozenset[Address]:
        """Return all that must be there before a resource.

        Unless it is across stacks, a stack's start needs nothing: only what is referred to counts.
        """

        def needs(current: Address) -> Iterable[Address]:
            is_end = not across_stacks and self.types[current] == STACK
            return () if is_end else self.needs[current]

        return frozenset(reached([address], needs))


def start_of(stack: str) -> Address:
    """Return what stands for the start of a stack: its change set."""
    return Address(stack, "")


def read_graph(assembly: Path) -> Graph:
    """Read the graph of what was synthesized into a directory; an OSError if nothing was."""
    resources = {
        address: resource
        for stack in stacks_by_name(assembly)
        for address, resource in stack.resources.items()
        if resource.type != CDK_METADATA
    }
    types = {address: resource.type for address, resource in resources.items()}
    needs = {
        address: frozenset({*resource.needs, start_of(address.stack)})
        for address, resource in resources.items()
    }
    names = {address: address.logical_id for address in resources}
    for stack in stacks_in(assembly):
        start = start_of(stack.name)
        types[start] = STACK
        needs[start] = frozenset(each for each in resources if each.stack in stack.needs)
        paths = construct_paths(stack.template)
        names |= {Address(stack.name, logical_id): path for logical_id, path in paths.items()}
        names[start] = "change set"
    return Graph(types=types, names=names, needs=needs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The time of one resource, in seconds after the deployment began.

    It starts when its last need is there, is done when CloudFormation goes on to what needs it, and
    ready when it can be used, which is later in express mode. `after` is what it waited for
    longest; None for the first.
    """

    start: float
    done: float
    ready: float
    after: Address | None


def schedule(
    graph: Graph, *, express: bool = False, changed: Collection[Address] | None = None
) -> Mapping[Address, Span]:
    """Return the time of each resource, when nothing waits without need.

    What is not among the changed resources takes no time; if these are None, all are worked on.
    """
    spans = dict[Address, Span]()
    for address in TopologicalSorter(graph.needs).static_order():
        duration = resource_type(graph.types[address])
        ends = {need: spans[need].done for need in graph.needs[address]}
        if duration.waits_for:
            ends |= {
                need: spans[need].ready
                for need in graph.before(address)
                if graph.types[need] in duration.waits_for
            }
        after = _latest(ends)
        start = 0 if after is None else ends[after]
        if changed is not None and address not in changed:
            spans[address] = Span(start=start, done=start, ready=start, after=after)
            continue
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


def lines(graph: Graph, *, name: str, express: bool = False) -> Iterator[str]:
    """Yield the longest chain, the time of each stack, and where the durations are from."""
    spans = schedule(graph, express=express)
    chain = longest_chain(spans)
    mode = " in express mode" if express else ""
    yield f"{name}: the longest chain of a first deployment{mode}"
    yield ""
    yield f"{'from':>6}  {'takes':>6}  {'stack':{_width(chain)}}  resource"
    for address in chain:
        span = spans[address]
        what = f"{graph.types[address]}  {graph.names[address]}"
        took = _minutes(span.done - span.start)
        yield f"{_minutes(span.start):>6}  {took:>6}  {address.stack:{_width(chain)}}  {what}"
    yield f"{_minutes(spans[chain[-1]].done):>6}  in all"
    yield ""
    yield "Stacks, from and to:"
    for stack in graph.stacks:
        start, done = span_of((each for each in spans if each.stack == stack), spans)
        yield f"{_minutes(start):>6}  {_minutes(done):>6}  {stack}"
    yield ""
    yield from _sources(graph, chain)
    if express:
        yield f"A call that CloudFormation does not wait for takes {CALL_SECONDS} seconds; assumed."
    has_hyperpod = any(kind in CLUSTER_TYPES for kind in graph.types.values())
    checks = "deep health checks, " if has_hyperpod else ""
    yield f"Not counted: {checks}a shortage of instances, what a retry takes."
    if has_hyperpod:
        yield "The HyperPod cluster takes as long as with cluster.wait_for: nodes."


def _sources(graph: Graph, chain: Sequence[Address]) -> Iterator[str]:
    types = dict.fromkeys(graph.types[address] for address in chain)
    yield "Where the durations are from:"
    for name in types:
        row = resource_type(name)
        if row.source is not None:
            yield f"{_minutes(row.seconds):>6}  {name}: {row.source}"
    assumed = [each for each in types if resource_type(each).source is None]
    yield f"        assumed: {', '.join(assumed)}"


def _width(chain: Sequence[Address]) -> int:
    return max(len(address.stack) for address in chain)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
