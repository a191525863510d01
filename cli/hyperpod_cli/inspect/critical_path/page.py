"""The critical path in lines."""

from collections.abc import Iterator, Sequence

from hyperpod_cli.aws.assembly import Address
from hyperpod_cli.inspect.critical_path.durations import CALL_SECONDS, duration_of
from hyperpod_cli.inspect.critical_path.graph import Graph
from hyperpod_cli.inspect.critical_path.schedule import longest_chain, schedule, span_of


def lines(graph: Graph, *, name: str, express: bool = False) -> Iterator[str]:
    """Yield the longest chain, the time of each stack, and where the durations are from.

    Args:
        graph: The resources.
        name: What is deployed.
        express: Whether in CloudFormation's express mode.
    """
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
    yield "Not counted: deep health checks, a shortage of instances, what a retry takes."
    yield "The HyperPod cluster takes as long as with cluster.wait_for: nodes."


def _sources(graph: Graph, chain: Sequence[Address]) -> Iterator[str]:
    types = dict.fromkeys(graph.types[address] for address in chain)
    yield "Where the durations are from:"
    for resource_type in types:
        found = duration_of(resource_type)
        if found.source is not None:
            yield f"{_minutes(found.seconds):>6}  {resource_type}: {found.source}"
    assumed = [each for each in types if duration_of(each).source is None]
    yield f"        assumed: {', '.join(assumed)}"


def _width(chain: Sequence[Address]) -> int:
    return max(len(address.stack) for address in chain)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
