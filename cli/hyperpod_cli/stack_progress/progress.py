"""How far CloudFormation is with stacks: lines that change on a terminal, or follow elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hyperpod_cli.aws.assembly import CDK_METADATA
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.terminal.console import styled

_IN_PROGRESS, _FAILED = "_IN_PROGRESS", "_FAILED"
_DONE = ("_COMPLETE", "_SKIPPED")
# A change set is made first, for which a new stack has this status; nothing is created yet.
_NOT_BEGUN = "REVIEW_IN_PROGRESS"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackProgress:
    """What is known of an operation on a stack.

    Before it, there is no status, and it has not begun. CloudFormation waits for the resources of
    `waiting`, the longest for the first.
    """

    status: str = ""
    begun: datetime | None = None
    changed: datetime | None = None
    done: int = 0
    waiting: tuple[StackEvent, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether CloudFormation is at work."""
        return self.status.endswith(_IN_PROGRESS) and self.status != _NOT_BEGUN

    @property
    def is_over(self) -> bool:
        """Whether the operation has ended, well or badly."""
        return self.status.endswith((*_DONE, _FAILED))

    @property
    def has_failed(self) -> bool:
        """Whether it went wrong, even if the stack is still being rolled back."""
        return "ROLLBACK" in self.status or self.status.endswith(_FAILED)


def progress_of(events: Iterable[StackEvent]) -> StackProgress:
    """Return how far an operation is, by the events of the stack since it began, in their order."""
    status, begun, changed = "", None, None
    waiting: dict[str, StackEvent] = {}
    done: set[str] = set()
    for event in events:
        if event.is_of_stack:
            if event.status != status:
                status, changed = event.status, event.time
            begun = begun if begun is not None else event.time
        elif event.type == CDK_METADATA:
            continue
        elif event.status.endswith(_IN_PROGRESS):
            done.discard(event.logical_id)
            former = waiting.get(event.logical_id)
            # The second event says that the creation was initiated.
            if former is None or former.status != event.status:
                waiting[event.logical_id] = event
        else:
            waiting.pop(event.logical_id, None)
            if event.status.endswith(_DONE):
                done.add(event.logical_id)
    over = StackProgress(status=status).is_over
    return StackProgress(
        status=status,
        begun=begun,
        changed=changed,
        done=len(done),
        # The last events of a stack that is done may not have been read.
        waiting=() if over else tuple(sorted(waiting.values(), key=lambda each: each.time)),
    )


SILENCE_SECONDS = 30.0
"""How long a display without a terminal may be silent."""
_REFRESHES_PER_SECOND = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A stack that is followed.

    `size` is the number of its resources, `paths` has the path of each one's construct by logical
    ID, and `needs` are names of the stacks that come before it. Something changes if anything is
    expected to happen to it.
    """

    name: str
    size: int
    paths: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    changes: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What is known of all stacks at a time of AWS.

    `trouble` says why nothing newer is known; it is None if all was read.
    """

    progress: Mapping[str, StackProgress]
    now: datetime
    trouble: str | None = None


def duration(seconds: float) -> str:
    """Return a duration as `12 s`, `3 m 04 s` or `1 h 02 m`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left:02} m"
    return f"{minutes} m {rest:02} s" if minutes else f"{rest} s"


def state(stack: Followed, moment: Moment, *, ended: bool = False) -> str:
    """Return what happens to a stack in a few words; nothing more will, once it has ended."""
    progress = moment.progress.get(stack.name, StackProgress())
    if progress.is_over and progress.begun is not None and progress.changed is not None:
        took = duration((progress.changed - progress.begun).total_seconds())
        return f"{progress.status} in {took}"
    if progress.is_running:
        return progress.status
    if ended or not stack.changes:
        return progress.status or "no change"
    done = {name for name, each in moment.progress.items() if each.is_over and not each.has_failed}
    before = [name for name in stack.needs if name not in done]
    return f"waits for {', '.join(before)}" if before else "prepares"


def waited_for(stack: Followed, waiting: StackEvent) -> str:
    """Return the name of a resource: the path of its construct, and its type."""
    name = stack.paths.get(waiting.logical_id, waiting.logical_id)
    return f"{name} ({waiting.type})"


def line(stack: Followed, moment: Moment, *, ended: bool = False) -> str:
    """Return what happens to a stack in one line."""
    progress = moment.progress.get(stack.name, StackProgress())
    text = f"{stack.name}: {state(stack, moment, ended=ended)}"
    if not progress.is_running:
        return text
    text += f", {progress.done} of {stack.size} done"
    if progress.waiting:
        first = progress.waiting[0]
        since = duration((moment.now - first.time).total_seconds())
        text += f", waits for {waited_for(stack, first)} for {since}"
    return text


class Display:
    """Shows what happens to stacks, in their order, until it is left; a context manager."""

    def __init__(
        self,
        stacks: Sequence[Followed],
        *,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stacks = stacks
        self._console = console
        self._clock = clock
        self._started = clock()
        self._read = self._started
        self._moment: Moment | None = None
        self._ended = False
        self._printed = self._started
        self._said: dict[str, object] = {}
        self._spinner = Spinner("dots")
        self._live = Live(
            self,
            console=console,
            refresh_per_second=_REFRESHES_PER_SECOND,
            auto_refresh=console.is_terminal,
            # rich would read escape sequences in what is printed meanwhile.
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        """Start."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state on the screen."""
        if self._console.is_terminal:
            self._live.stop()

    def show(self, moment: Moment, *, ended: bool = False) -> None:
        """Show what is known now."""
        self._moment, self._read, self._ended = moment, self._clock(), ended
        if self._console.is_terminal:
            self._live.refresh()
            return
        changed = [stack for stack in self._stacks if self._is_news(stack, moment)]
        if not changed and self._clock() - self._printed >= SILENCE_SECONDS:
            running = [each for each in self._stacks if self._of(each).is_running]
            changed = running or [
                each for each in self._stacks if each.changes and not self._of(each).is_over
            ]
        for stack in changed:
            self._say(stack, moment)

    def _of(self, stack: Followed) -> StackProgress:
        progress = {} if self._moment is None else self._moment.progress
        return progress.get(stack.name, StackProgress())

    def _is_news(self, stack: Followed, moment: Moment) -> bool:
        waiting = self._of(stack).waiting
        first = waiting[0].logical_id if waiting else None
        news = (state(stack, moment, ended=self._ended), first, moment.trouble)
        former, self._said[stack.name] = self._said.get(stack.name), news
        return former != news

    def _say(self, stack: Followed, moment: Moment) -> None:
        self._printed = self._clock()
        late = f" ({moment.trouble})" if moment.trouble else ""
        elapsed = duration(self._printed - self._started)
        self._console.print(f"[{elapsed:>8}] {line(stack, moment, ended=self._ended)}{late}")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render a line a stack."""
        if self._moment is None:
            return
        moment = self._moment
        shown = moment.now + timedelta(seconds=self._clock() - self._read)
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        table.add_column(no_wrap=True, justify="right")
        table.expand = True
        for stack in self._stacks:
            table.add_row(*self._cells(stack, moment, shown))
        yield table
        if moment.trouble:
            yield styled(moment.trouble, style="yellow")

    def _cells(
        self, stack: Followed, moment: Moment, shown: datetime
    ) -> Iterator[Text | Spinner | str]:
        progress = self._of(stack)
        if not progress.is_running:
            failed, done = progress.has_failed, progress.is_over
            mark, style = ("✗", "red") if failed else ("✓", "green") if done else ("·", "dim")
            yield from (styled(mark, style=style), stack.name)
            yield styled(state(stack, moment, ended=self._ended), style=style)
            yield ""
            return
        yield from (self._spinner, stack.name)
        style = "red" if progress.has_failed else ""
        if not progress.waiting:
            yield styled(progress.status, style=style)
            yield ""
            return
        first = progress.waiting[0]
        verb = "rolls back: " if progress.has_failed else ""
        text = f"{progress.done}/{stack.size} {verb}{waited_for(stack, first)}"
        yield styled(text, style=style)
        yield duration((shown - first.time).total_seconds())
