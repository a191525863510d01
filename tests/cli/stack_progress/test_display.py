"""The progress on a terminal, and where there is none."""

import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from rich.console import Console

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.stack_progress.progress import (
    Display,
    Followed,
    Moment,
    duration,
    progress_of,
    state,
)
from tests.support.stack_events import BEGUN, event

PLATFORM, HYPERPOD = "ml-platform", "ml-hyperpod"
STACKS = [
    Followed(name=PLATFORM, size=77, paths={"Eks1": "Eks/Cluster"}),
    Followed(name=HYPERPOD, size=9, needs=[PLATFORM]),
]
EVENTS = [
    event(PLATFORM, "CREATE_IN_PROGRESS", 0, stack=PLATFORM),
    event("Vpc1", "CREATE_COMPLETE", 2, stack=PLATFORM),
    event("Eks1", "CREATE_IN_PROGRESS", 3, stack=PLATFORM, type="AWS::EKS::Cluster"),
    event(PLATFORM, "CREATE_COMPLETE", 700, stack=PLATFORM),
    event(HYPERPOD, "CREATE_IN_PROGRESS", 705),
    event("Cluster", "CREATE_IN_PROGRESS", 710, type="Custom::HyperPodCluster"),
    event(HYPERPOD, "ROLLBACK_IN_PROGRESS", 900),
    event(HYPERPOD, "ROLLBACK_COMPLETE", 960),
]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def moment(events: list[StackEvent], seconds: float, trouble: str | None = None) -> Moment:
    own = {name: [each for each in events if f"/{name}/" in each.stack_id] for name in _names()}
    return Moment(
        progress={name: progress_of(each) for name, each in own.items()},
        now=BEGUN + timedelta(seconds=seconds),
        trouble=trouble,
    )


def _names() -> Iterator[str]:
    return (stack.name for stack in STACKS)


def shown(
    moments: list[tuple[int, float]], *, terminal: bool = False, no_color: bool = False
) -> list[str]:
    """Return what is printed at moments: how many events are known, at how many seconds."""
    clock, output = Clock(), io.StringIO()
    console = Console(
        file=output,
        width=80,
        force_terminal=terminal,
        highlight=False,
        soft_wrap=True,
        no_color=no_color,
    )
    with Display(STACKS, console=console, clock=clock) as display:
        for known, seconds in moments:
            clock.seconds = seconds
            display.show(moment(EVENTS[:known], seconds), ended=known == len(EVENTS))
    return output.getvalue().splitlines()


def test_without_a_terminal_a_line_follows_each_change() -> None:
    assert shown([(0, 0), (3, 5), (3, 10), (4, 700), (6, 715), (7, 901), (8, 961)]) == [
        "[     0 s] ml-platform: prepares",
        "[     0 s] ml-hyperpod: waits for ml-platform",
        "[     5 s] ml-platform: CREATE_IN_PROGRESS, 1 of 77 done, waits for Eks/Cluster "
        "(AWS::EKS::Cluster) for 2 s",
        "[11 m 40 s] ml-platform: CREATE_COMPLETE in 11 m 40 s",
        "[11 m 40 s] ml-hyperpod: prepares",
        "[11 m 55 s] ml-hyperpod: CREATE_IN_PROGRESS, 0 of 9 done, waits for Cluster "
        "(Custom::HyperPodCluster) for 5 s",
        "[15 m 01 s] ml-hyperpod: ROLLBACK_IN_PROGRESS, 0 of 9 done, waits for Cluster "
        "(Custom::HyperPodCluster) for 3 m 11 s",
        "[16 m 01 s] ml-hyperpod: ROLLBACK_COMPLETE in 4 m 15 s",
    ]


def test_no_silence_is_longer_than_half_a_minute() -> None:
    lines = shown([(3, seconds) for seconds in range(5, 100, 5)])
    assert [line.partition("]")[0] for line in lines if PLATFORM in line.partition(":")[0]] == [
        "[     5 s",
        "[    35 s",
        "[1 m 05 s",
        "[1 m 35 s",
    ]


def test_a_stack_that_does_not_change_waits_for_nothing() -> None:
    unchanged = Followed(name=HYPERPOD, size=9, changes=False)
    assert state(unchanged, moment([], 0)) == "no change"
    assert state(unchanged, moment(EVENTS[:5], 0)) == "CREATE_IN_PROGRESS"
    assert state(STACKS[1], moment([], 0), ended=True) == "no change"


def test_a_preparation_is_not_silent_either() -> None:
    assert len(shown([(0, 0), (0, 20), (0, 31)])) == 4


def test_a_terminal_shows_a_line_a_stack_in_its_width() -> None:
    last = shown([(3, 5), (6, 1000)], terminal=True, no_color=True)[-3:-1]
    assert last[0].rstrip().endswith("ml-platform CREATE_COMPLETE in 11 m 40 s")
    assert "0/9 Cluster (Custom::HyperPodCluster)" in last[1]
    assert last[1].split("\x1b")[0].rstrip().endswith("4 m 50 s")


def test_a_console_without_colour_has_none() -> None:
    assert not [
        each for each in shown([(8, 961)], terminal=True, no_color=True) if "\x1b[3" in each
    ]
    assert [each for each in shown([(8, 961)], terminal=True) if "\x1b[31m" in each]


def test_a_read_that_fails_is_told_once() -> None:
    clock, output = Clock(), io.StringIO()
    with Display(STACKS[:1], console=Console(file=output, width=200), clock=clock) as display:
        for seconds in (0, 5, 10):
            display.show(moment(EVENTS[:3], seconds, "cannot be followed: throttled"))
    assert output.getvalue().count("cannot be followed: throttled") == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (59.9, "59 s"), (60, "1 m 00 s"), (184, "3 m 04 s"), (3725, "1 h 02 m")],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text
