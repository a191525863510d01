"""What became of resources, by what was there before and after."""

import pytest

from hyperpod_rehearsal.change.outcome import ChangeAction, Snapshot, changes, steps
from tests.support.stack_events import event

KEY = ("ml-hyperpod", "A")
POLICY, FILES = "AWS::IAM::Policy", "AWS::FSx::FileSystem"


def snapshot(*resources: tuple[str, str, str, object]) -> Snapshot:
    """Return a snapshot of logical and physical IDs, types and properties."""
    keys = {each[0]: ("ml-hyperpod", each[0]) for each in resources}
    return Snapshot(
        statuses={"ml-hyperpod": "UPDATE_COMPLETE"},
        resources={keys[each[0]]: (each[1], each[2]) for each in resources},
        properties={keys[each[0]]: each[3] for each in resources},
        names={},
    )


@pytest.mark.parametrize(
    ("before", "after", "events", "expected"),
    [
        ([("A", "1", POLICY, 1)], [("A", "1", POLICY, 1)], [], None),
        ([("A", "1", POLICY, 1)], [("A", "1", POLICY, 2)], [], ChangeAction.UPDATED),
        ([("A", "1", POLICY, 1)], [("A", "2", POLICY, 1)], [], ChangeAction.REPLACED),
        ([("A", "1", POLICY, 1)], [], [], ChangeAction.DELETED),
        ([("A", "1", POLICY, 1)], [], [event("A", "DELETE_SKIPPED")], ChangeAction.KEPT),
        ([], [("A", "1", POLICY, 1)], [], ChangeAction.CREATED),
    ],
)
def test_an_action_is_found(
    before: list[tuple[str, str, str, object]],
    after: list[tuple[str, str, str, object]],
    events: list[object],
    expected: ChangeAction | None,
) -> None:
    told = {"ml-hyperpod": events}
    found = changes(snapshot(*before), snapshot(*after), events=told)  # type: ignore[arg-type]
    assert [each.action for each in found] == ([] if expected is None else [expected])


@pytest.mark.parametrize(("kind", "is_lost"), [(POLICY, False), (FILES, True)])
def test_what_holds_data_loses_it(kind: str, is_lost: bool) -> None:
    [replaced] = changes(snapshot(("A", "1", kind, 1)), snapshot(("A", "2", kind, 1)), events={})
    assert replaced.loses == is_lost
    [updated] = changes(snapshot(("A", "1", kind, 1)), snapshot(("A", "1", kind, 2)), events={})
    assert not updated.loses


def test_steps_are_in_the_order_of_cloudformation() -> None:
    before = snapshot(("A", "1", POLICY, 1), ("B", "1", POLICY, 1), ("C", "1", POLICY, 1))
    after = snapshot(("A", "1", POLICY, 2), ("B", "2", POLICY, 1))
    told = {
        "ml-hyperpod": [
            event("B", "UPDATE_COMPLETE", 1),
            event("A", "UPDATE_COMPLETE", 2),
            event("C", "DELETE_COMPLETE", 3),
        ]
    }
    found = changes(before, after, events=told)
    assert [each.logical_id for each in found] == ["C", "B", "A"]
    assert [each.logical_id for each in steps(found, events=told)] == ["B", "A"]
