"""When CloudFormation worked on each resource, and what the deployment waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hyperpod_cli.aws.assembly import CDK_METADATA, Address
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.inspect.critical_path import Graph, Span, chain_to, longest_chain, start_of
from hyperpod_cli.inspect.resource_types import STACK
from hyperpod_cli.stack_progress.failures import failures_of
from hyperpod_cli.stack_progress.progress import progress_of

_IN_PROGRESS = "_IN_PROGRESS"
# A stack with these statuses takes back what it did, or deletes what it has replaced.
_AFTERWARDS = ("ROLLBACK", "CLEANUP")


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What CloudFormation did to one resource, in seconds after the first event of all stacks.

    The start of a stack stands for its change set, whose status is empty. A step is back that takes
    back what was done, or deletes what was replaced.
    """

    address: Address
    name: str
    type: str
    status: str
    start: float
    seconds: float
    is_back: bool = False
    in_chain: bool = False

    @property
    def end(self) -> float:
        """When it ended, or when its last event was read."""
        return self.start + self.seconds

    @property
    def has_failed(self) -> bool:
        """Whether it went wrong."""
        return self.status.endswith("_FAILED")


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """All that CloudFormation did in a deployment; `begun` is None if nothing happened.

    The chain is what the deployment waited for, each after the one before, up to the cause if it
    failed.
    """

    begun: datetime | None
    seconds: float
    statuses: Mapping[str, str]
    steps: Mapping[str, Sequence[Step]]
    chain: Sequence[Step]


def timeline(events: Mapping[str, Sequence[StackEvent]], *, graph: Graph) -> Timeline:
    """Return what happened in a deployment.

    It takes the events of each stack, the earliest first, without those of nested stacks.
    """
    own = {
        name: [event for event in found if event.type != CDK_METADATA]
        for name, found in events.items()
    }
    times = [event.time for found in own.values() for event in found]
    if not times:
        return Timeline(begun=None, seconds=0, statuses={}, steps={}, chain=())
    begun, last = min(times), max(times)
    steps = {
        name: [*_steps(name, found, begun=begun, last=last, names=graph.names)]
        for name, found in own.items()
        if found
    }
    chain = _chain((step for found in steps.values() for step in found), graph, events=own)
    marked = {(step.address, step.start) for step in chain}
    return Timeline(
        begun=begun,
        seconds=(last - begun).total_seconds(),
        statuses={name: progress_of(own[name]).status for name in steps},
        steps={
            name: [replace(step, in_chain=(step.address, step.start) in marked) for step in found]
            for name, found in steps.items()
        },
        chain=chain,
    )


def _steps(
    stack: str,
    events: Sequence[StackEvent],
    *,
    begun: datetime,
    last: datetime,
    names: Mapping[Address, str],
) -> Iterator[Step]:
    """Yield what was done in one stack, in the order in which it began."""
    found = [_change_set(stack, events, begun=begun)]
    at_work: dict[str, int] = {}
    is_back = False
    for event in events:
        if event.is_of_stack:
            is_back = is_back or any(word in event.status for word in _AFTERWARDS)
            continue
        index = at_work.get(event.logical_id)
        if index is None or (
            event.status.endswith(_IN_PROGRESS) and found[index].status != event.status
        ):
            address = Address(stack, event.logical_id)
            at_work[event.logical_id] = index = len(found)
            found.append(
                Step(
                    address=address,
                    name=names.get(address, event.logical_id),
                    type=event.type,
                    status=event.status,
                    start=(event.time - begun).total_seconds(),
                    seconds=(last - event.time).total_seconds(),
                    is_back=is_back,
                )
            )
        if not event.status.endswith(_IN_PROGRESS):
            seconds = (event.time - begun).total_seconds() - found[index].start
            found[index] = replace(found[index], status=event.status, seconds=seconds)
            del at_work[event.logical_id]
    return iter(sorted(found, key=lambda step: step.start))


def _change_set(stack: str, events: Sequence[StackEvent], *, begun: datetime) -> Step:
    """Return what comes before the first resource of a stack."""
    resources = [event.time for event in events if not event.is_of_stack]
    first, end = events[0].time, min(resources, default=events[-1].time)
    return Step(
        address=start_of(stack),
        name="change set",
        type=STACK,
        status="",
        start=(first - begun).total_seconds(),
        seconds=max(0.0, (end - first).total_seconds()),
    )


def _chain(
    steps: Iterable[Step], graph: Graph, *, events: Mapping[str, Sequence[StackEvent]]
) -> list[Step]:
    first: dict[Address, Step] = {}
    for step in steps:
        if not step.is_back:
            first.setdefault(step.address, step)
    # What no one deploys any more, and is deleted, is in no graph.
    spans = {
        address: Span(
            start=step.start,
            done=step.end,
            ready=step.end,
            after=_waited_for(address, graph, first) if address in graph.types else None,
        )
        for address, step in first.items()
    }
    causes = (Address(cause.stack, cause.event.logical_id) for cause in failures_of(events))
    cause = next((address for address in causes if address in spans), None)
    addresses = longest_chain(spans) if cause is None else chain_to(cause, spans)
    return [replace(first[address], in_chain=True) for address in addresses]


def _waited_for(address: Address, graph: Graph, steps: Mapping[Address, Step]) -> Address | None:
    """Return what was ready last of what a resource needs; what did not change took no time."""
    needed = (each for each in graph.before(address) if each in steps)
    return max(sorted(needed), key=lambda each: (steps[each].end, steps[each].start), default=None)
