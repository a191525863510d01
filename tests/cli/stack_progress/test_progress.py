"""How far CloudFormation is with a stack."""

import pytest

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.stack_progress.progress import progress_of
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
    assert (progress.waiting[0].since - BEGUN).total_seconds() == 1


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
