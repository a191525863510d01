"""The table of `Turn`: what the stack's events show, and whose turn it is."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_shared.errors import NotReadyError
from provisioner.framework.operation import LONGEST_REQUEST_SECONDS, StackPhase
from provisioner.framework.request import BEGUN_AT, OPERATION, Request
from provisioner.framework.turn import GivenUpError, Turn
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time, event, journal
from tests.support.provisioner.fake_table import FakeTable

NEW, OLD = {"Scripts": "new", "Wait": "true"}, {"Scripts": "old", "Wait": "true"}
UPDATES, FAILS = "UPDATE_IN_PROGRESS", "UPDATE_FAILED"
ROLLS_BACK = "UPDATE_ROLLBACK_IN_PROGRESS"
# Seconds before the request, the status, and of the resource's own event its properties.
Shown = tuple[float, str] | tuple[float, str, Mapping[str, str]]
Known = dict[str, object]
THE_STACK = (9.0, UPDATES)
THE_RESOURCE = (8.0, UPDATES, NEW)
NO_OPERATION: dict[str, dict[str, str | None]] = {
    "configured": {"DetailedStatus": "CONFIGURATION_COMPLETE"},
    "hook": {"HookType": "Some::Hook", "ResourceStatus": None, "LogicalResourceId": None},
}
"""Events of the stack in its operation; what begins one has neither."""


class Events:
    """Shows a stack's events."""

    def __init__(self, shown: list[Shown], *, now: float) -> None:
        """Take them oldest first."""
        self.shown, self.now = shown, now

    def describe_stack_events(self, *, StackName: str, NextToken: str = "") -> Mapping[str, Any]:
        assert not NextToken
        return {
            "StackEvents": [
                self._event(number, StackName, *each)
                for number, each in reversed(list(enumerate(self.shown)))
            ]
        }

    def _event(
        self,
        number: int,
        stack: str,
        ago: float,
        status: str,
        properties: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        if status in NO_OPERATION:
            return {**self._event(number, stack, ago, UPDATES), **NO_OPERATION[status]}
        own = properties is not None
        values = {"ResourceProperties": json.dumps({**(properties or {}), "Wait": True})}
        return {
            "EventId": str(number),
            "StackId": stack,
            "PhysicalResourceId": "scripts" if own else stack,
            "LogicalResourceId": "Resource" if own else "ml-hyperpod",
            "ResourceStatus": status,
            "Timestamp": datetime.fromtimestamp(self.now - ago, tz=UTC),
            **(values if properties else {}),
        }


def turn(
    *shown: Shown,
    new: Mapping[str, str] = NEW,
    old: Mapping[str, str] = OLD,
    known: Known | None = None,
    request_type: str = "Update",
    table: FakeTable | None = None,
) -> Turn:
    time = Time()
    former: dict[str, Any] = {"old": old} if request_type == "Update" else {}
    sent = {**event(request_type, "Custom::LifecycleScripts", new, **former), **(known or {})}
    for key in ("ResourceProperties", "OldResourceProperties"):
        sent.get(key, {}).pop("ServiceToken", None)
    events = Events(list(shown), now=time.now)
    item = partial(journal, table or FakeTable())
    return Turn(Request.from_event(sent), cloudformation=events, journal=item, clock=time.clock)


@pytest.mark.parametrize(
    ("shown", "rolls_back"),
    [
        ([THE_STACK, THE_RESOURCE], False),
        (
            [THE_STACK, THE_RESOURCE, (7.0, FAILS, NEW), (6.0, ROLLS_BACK), (5.0, UPDATES, OLD)],
            True,
        ),
        ([(9.0, ROLLS_BACK), (8.0, UPDATES, OLD)], True),
        # The read is late, and shows no more than the update that the rollback takes back.
        ([THE_STACK, THE_RESOURCE, (7.0, ROLLS_BACK)], True),
        ([THE_STACK, THE_RESOURCE, (-1.0, "configured"), (-2.0, "hook")], False),
        # AWS might show no event of the resource, or none of its properties.
        ([(9.0, ROLLS_BACK)], True),
        ([THE_STACK, (8.0, UPDATES, {})], False),
    ],
)
def test_a_request_belongs_to_the_operation_with_its_own_event(
    shown: list[Shown], *, rolls_back: bool
) -> None:
    new, old = (OLD, NEW) if rolls_back else (NEW, OLD)
    its = turn(*shown, new=new, old=old)
    assert its.rolls_back is rolls_back
    its.require()


@pytest.mark.parametrize("ahead", [-0.9, 0.9])
def test_clocks_differ_by_a_second(ahead: float) -> None:
    its = turn((1.0 + ahead, UPDATES), (ahead, UPDATES, NEW))
    its.require()
    assert its.phase is StackPhase.DEPLOYING


def test_a_rollback_whose_events_are_late_and_show_no_properties_is_not_given_up(
    raises: Raises,
) -> None:
    """What is shown may be the end of the update that it takes back."""
    shown: list[Shown] = [(9.0, UPDATES), (8.0, UPDATES, {}), (7.0, FAILS, {})]
    with raises(NotReadyError):
        turn(*shown, new=OLD, old=NEW).require()


@pytest.mark.parametrize(
    "later",
    [
        [(-40.0, FAILS, NEW)],
        [(-40.0, ROLLS_BACK)],
        [(-40.0, FAILS, NEW), (-41.0, ROLLS_BACK), (-42.0, UPDATES, OLD)],
        [(-40.0, "UPDATE_COMPLETE", NEW), (-50.0, "UPDATE_COMPLETE"), (-60.0, UPDATES)],
    ],
)
def test_a_request_that_is_given_up_changes_nothing(later: list[Shown], raises: Raises) -> None:
    its = turn(THE_STACK, THE_RESOURCE)
    known: Known = {BEGUN_AT: Time().now, OPERATION: str(its.operation)}
    assert its.phase is StackPhase.DEPLOYING
    with raises(GivenUpError):
        turn(THE_STACK, THE_RESOURCE, *later, known=known).require()


@pytest.mark.parametrize("seconds", [100.0, 20.0], ids=["for long", "now"])
def test_a_request_whose_resource_a_later_one_has_changes_nothing(
    seconds: float, raises: Raises
) -> None:
    """Its events need not show it, however long ago it began: it had the resource itself."""
    table = FakeTable()
    known: Known = {BEGUN_AT: Time().now - seconds}
    began: list[Shown] = [(seconds + 9, UPDATES), (seconds + 8, UPDATES, NEW)]
    turn(*began, known=known, table=table).require()
    later: list[Shown] = [(seconds + 7, FAILS, NEW), (6.0, ROLLS_BACK), (5.0, UPDATES, OLD)]
    turn(*began, *later, new=OLD, old=NEW, known={"RequestId": "2"}, table=table).require()

    changed = list[str]()
    with raises(GivenUpError):
        turn(*began, known=known, table=table).change(lambda: changed.append("anything"))
    assert changed == []


@pytest.mark.parametrize(("seconds", "error"), [(150.0, GivenUpError), (50.0, NotReadyError)])
def test_a_late_delivery_is_not_taken_for_the_same_request_of_a_later_operation(
    seconds: float, error: type[Exception], raises: Raises
) -> None:
    """Lambda delivers an event again two minutes after its runs were killed."""
    table = FakeTable()
    began: list[Shown] = [(200.0, UPDATES), (199.0, UPDATES, NEW)]
    own: Known = {BEGUN_AT: Time().now - 198.0}
    turn(*began, known=own, table=table).require()
    late: Known = {"RequestId": "of the operation before", BEGUN_AT: Time().now - seconds}
    with raises(error):
        turn(*began, known=late, table=table).require()
    turn(*began, known=own, table=table).require()


def test_a_younger_operation_from_before_the_request_says_that_the_first_read_was_late(
    raises: Raises,
) -> None:
    before = turn((60.0, UPDATES), (59.0, UPDATES, NEW)).operation
    known: Known = {BEGUN_AT: Time().now, OPERATION: str(before)}
    with raises(NotReadyError):
        turn((60.0, UPDATES), (2.0, ROLLS_BACK), new=OLD, old=NEW, known=known).require()


def test_a_resource_that_is_added_again_belongs_to_the_operation_that_adds_it() -> None:
    creates, deletes = "CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS"
    its = turn(
        (900.0, creates),
        (890.0, creates, NEW),
        (880.0, "CREATE_COMPLETE", NEW),
        (500.0, UPDATES),
        (490.0, deletes, NEW),
        (480.0, "DELETE_COMPLETE", NEW),
        (470.0, "UPDATE_COMPLETE"),
        THE_STACK,
        (8.0, creates, NEW),
        request_type="Create",
    )
    assert its.operation.status == UPDATES
    its.require()


def test_an_event_without_properties_may_be_the_one_of_a_creation() -> None:
    its = turn(
        THE_STACK, (8.0, "CREATE_IN_PROGRESS", {}), (-40.0, ROLLS_BACK), request_type="Create"
    )
    assert its.operation.status == UPDATES


def test_what_cloudformation_refuses_to_tell_fails_all_but_a_delete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "DescribeStackEvents")

    monkeypatch.setattr(Events, "describe_stack_events", refuse)
    assert turn(request_type="Delete").phase is None
    with pytest.raises(ClientError):
        assert turn().phase


def test_an_operation_may_begin_with_the_request_by_another_clock() -> None:
    before = turn((500.0, UPDATES)).operation
    known: Known = {BEGUN_AT: Time().now - 110, OPERATION: str(before)}
    its = turn((500.0, UPDATES), (109.95, ROLLS_BACK), new=OLD, old=NEW, known=known)
    assert its.phase is StackPhase.ROLLING_BACK


def test_what_remains_ends_with_the_request() -> None:
    known: Known = {BEGUN_AT: Time().now - LONGEST_REQUEST_SECONDS + 30}
    assert turn(known=known).clock.remaining() == 30
