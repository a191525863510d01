"""How far CloudFormation is with stacks, and how that is shown."""

import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

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

NAME = "ml-hyperpod"
CREATED = [event(NAME, "CREATE_IN_PROGRESS"), event("Vpc", "CREATE_IN_PROGRESS", 1)]

# Events; the stack's status, resources done, and those that it waits for.
CASES: dict[str, tuple[list[StackEvent], str, int, list[str]]] = {
    "nothing yet": ([], "", 0, []),
    "a change set": ([event(NAME, "REVIEW_IN_PROGRESS")], "REVIEW_IN_PROGRESS", 0, []),
    "one begun": (CREATED, "CREATE_IN_PROGRESS", 0, ["Vpc"]),
    "the longest first": (
        [*CREATED, event("Eks", "CREATE_IN_PROGRESS", 2), event("Vpc", "CREATE_COMPLETE", 3)],
        "CREATE_IN_PROGRESS",
        1,
        ["Eks"],
    ),
    "two at once": (
        [*CREATED, event("Eks", "CREATE_IN_PROGRESS", 2), event("Nat", "CREATE_IN_PROGRESS", 3)],
        "CREATE_IN_PROGRESS",
        0,
        ["Vpc", "Eks", "Nat"],
    ),
    "initiated is not begun anew": (
        [*CREATED, event("Vpc", "CREATE_IN_PROGRESS", 9)],
        "CREATE_IN_PROGRESS",
        0,
        ["Vpc"],
    ),
    "rolled back": (
        [
            *CREATED,
            event("Vpc", "CREATE_COMPLETE", 2),
            event(NAME, "ROLLBACK_IN_PROGRESS", 3),
            event("Vpc", "DELETE_IN_PROGRESS", 4),
        ],
        "ROLLBACK_IN_PROGRESS",
        0,
        ["Vpc"],
    ),
    "done, although the last events were not read": (
        [*CREATED, event(NAME, "CREATE_COMPLETE", 5)],
        "CREATE_COMPLETE",
        0,
        [],
    ),
    "cleaning up": (
        [
            event(NAME, "UPDATE_IN_PROGRESS"),
            event("Old", "UPDATE_COMPLETE", 1),
            event(NAME, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", 2),
            event("Old", "DELETE_IN_PROGRESS", 3),
        ],
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        0,
        ["Old"],
    ),
    "without what is nothing in AWS": (
        [
            event(NAME, "CREATE_IN_PROGRESS"),
            event("CDKMetadata", "CREATE_IN_PROGRESS", 1, type="AWS::CDK::Metadata"),
            event("CDKMetadata", "CREATE_COMPLETE", 2, type="AWS::CDK::Metadata"),
            event("Vpc", "CREATE_COMPLETE", 2),
        ],
        "CREATE_IN_PROGRESS",
        1,
        [],
    ),
    "kept": (
        [
            event(NAME, "DELETE_IN_PROGRESS"),
            event("Logs", "DELETE_SKIPPED", 1),
            event("Vpc", "DELETE_IN_PROGRESS", 2),
        ],
        "DELETE_IN_PROGRESS",
        1,
        ["Vpc"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_events_say_how_far_it_is(case: str) -> None:
    events, status, done, waiting = CASES[case]
    progress = progress_of(events)
    assert (progress.status, progress.done) == (status, done)
    assert [each.logical_id for each in progress.waiting] == waiting


def test_a_wait_began_with_the_first_event() -> None:
    progress = progress_of([*CREATED, event("Vpc", "CREATE_IN_PROGRESS", 9)])
    assert (progress.waiting[0].time - BEGUN).total_seconds() == 1


@pytest.mark.parametrize(
    ("status", "running", "over", "failed"),
    [
        ("", False, False, False),
        ("REVIEW_IN_PROGRESS", False, False, False),
        ("CREATE_IN_PROGRESS", True, False, False),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", True, False, False),
        ("UPDATE_ROLLBACK_IN_PROGRESS", True, False, True),
        ("CREATE_COMPLETE", False, True, False),
        ("DELETE_COMPLETE", False, True, False),
        ("ROLLBACK_COMPLETE", False, True, True),
        ("UPDATE_ROLLBACK_FAILED", False, True, True),
        ("DELETE_FAILED", False, True, True),
    ],
)
def test_a_status_says_whether_it_goes_on(
    status: str, running: bool, over: bool, failed: bool
) -> None:
    progress = progress_of([event(NAME, status)] if status else [])
    assert (progress.is_running, progress.is_over, progress.has_failed) == (running, over, failed)


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


def test_without_a_terminal_a_line_follows_each_change(snapshot: SnapshotAssertion) -> None:
    moments: list[tuple[int, float]] = [
        (0, 0),
        (3, 5),
        (3, 10),
        (4, 700),
        (6, 715),
        (7, 901),
        (8, 961),
    ]
    assert "\n".join(shown(moments)) == snapshot


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
    assert last[0].rstrip().endswith("CREATE_COMPLETE in 11 m 40 s")
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
