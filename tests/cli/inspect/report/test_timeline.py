"""When CloudFormation worked on what, and which chain the deployment waited for."""

from collections.abc import Mapping, Sequence

import pytest

from hyperpod_cli.aws.assembly import CDK_METADATA, Address
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.inspect.critical_path import Graph, start_of
from hyperpod_cli.inspect.report.timeline import Timeline, timeline
from hyperpod_cli.inspect.resource_types import STACK
from tests.support.stack_events import event

FIRST, SECOND = start_of("first"), start_of("second")
VPC, EKS, ROLE = Address("first", "Vpc"), Address("first", "Eks"), Address("first", "Role")
RELEASE = Address("second", "Release")
ADDRESSES = (FIRST, SECOND, VPC, EKS, ROLE, RELEASE)
GRAPH = Graph(
    types={each: "AWS::EC2::VPC" if each.logical_id else STACK for each in ADDRESSES},
    names={each: f"Path/{each.logical_id}" for each in ADDRESSES},
    needs={
        FIRST: frozenset(),
        ROLE: frozenset({FIRST}),
        VPC: frozenset({FIRST}),
        EKS: frozenset({FIRST, VPC, ROLE}),
        SECOND: frozenset({VPC, EKS, ROLE}),
        RELEASE: frozenset({SECOND}),
    },
)


def first(*events: tuple[str, str, float]) -> list[StackEvent]:
    return [event(name, status, seconds, stack="first") for name, status, seconds in events]


def second(*events: tuple[str, str, float]) -> list[StackEvent]:
    return [event(name, status, seconds, stack="second") for name, status, seconds in events]


BEGUN = first(
    ("first", "REVIEW_IN_PROGRESS", 0),
    ("first", "CREATE_IN_PROGRESS", 4),
    ("Vpc", "CREATE_IN_PROGRESS", 5),
    ("Role", "CREATE_IN_PROGRESS", 5),
    ("Role", "CREATE_IN_PROGRESS", 6),  # "Resource creation Initiated"
    ("Vpc", "CREATE_COMPLETE", 9),
    ("Role", "CREATE_COMPLETE", 20),
    ("Eks", "CREATE_IN_PROGRESS", 21),
)
CREATED: Mapping[str, Sequence[StackEvent]] = {
    "first": BEGUN
    + first(("Eks", "CREATE_COMPLETE", 600), ("first", "CREATE_COMPLETE", 601))
    + [event("CDKMetadata", "CREATE_COMPLETE", 700, stack="first", type=CDK_METADATA)],
    "second": second(
        ("second", "REVIEW_IN_PROGRESS", 603),
        ("Release", "CREATE_IN_PROGRESS", 610),
        ("Release", "CREATE_COMPLETE", 640),
        ("second", "CREATE_COMPLETE", 641),
    ),
}


def said(found: Timeline, stack: str) -> list[tuple[str, str, float, float]]:
    return [(step.name, step.status, step.start, step.seconds) for step in found.steps[stack]]


def chain(found: Timeline) -> list[str]:
    return [f"{step.address.stack} {step.name}" for step in found.chain]


def test_a_step_is_from_its_first_event_to_its_last() -> None:
    found = timeline(CREATED, graph=GRAPH)

    assert found.seconds == 641
    assert found.statuses == {"first": "CREATE_COMPLETE", "second": "CREATE_COMPLETE"}
    assert said(found, "first") == [
        ("change set", "", 0, 5),
        ("Path/Vpc", "CREATE_COMPLETE", 5, 4),
        ("Path/Role", "CREATE_COMPLETE", 5, 15),
        ("Path/Eks", "CREATE_COMPLETE", 21, 579),
    ]


def test_the_chain_goes_over_all_stacks_through_what_was_ready_last() -> None:
    found = timeline(CREATED, graph=GRAPH)

    assert chain(found) == [
        "first change set",
        "first Path/Role",
        "first Path/Eks",
        "second change set",
        "second Path/Release",
    ]
    marked = [step.address for steps in found.steps.values() for step in steps if step.in_chain]
    assert marked == [step.address for step in found.chain]


def test_the_chain_of_a_failure_ends_with_its_cause_and_a_rollback_is_told_apart() -> None:
    events = BEGUN + first(
        ("Eks", "CREATE_FAILED", 30),
        ("first", "ROLLBACK_IN_PROGRESS", 31),
        ("Eks", "DELETE_IN_PROGRESS", 32),
        ("Eks", "DELETE_COMPLETE", 90),
        ("Vpc", "DELETE_SKIPPED", 91),
        ("first", "ROLLBACK_COMPLETE", 92),
    )
    found = timeline({"first": events, "second": []}, graph=GRAPH)

    assert chain(found) == ["first change set", "first Path/Role", "first Path/Eks"]
    assert found.chain[-1].has_failed
    assert found.statuses == {"first": "ROLLBACK_COMPLETE"}
    back = [(step.name, step.status, step.seconds) for step in found.steps["first"] if step.is_back]
    assert back == [("Path/Eks", "DELETE_COMPLETE", 58), ("Path/Vpc", "DELETE_SKIPPED", 0)]
    assert not any(step.in_chain for step in found.steps["first"] if step.is_back)


def test_what_still_goes_on_takes_until_the_last_event() -> None:
    found = timeline({"first": BEGUN}, graph=GRAPH)

    assert said(found, "first")[-1] == ("Path/Eks", "CREATE_IN_PROGRESS", 21, 0)
    assert found.chain[-1].name == "Path/Eks"


def test_an_update_waits_through_what_did_not_change() -> None:
    events = {
        "first": first(
            ("first", "UPDATE_IN_PROGRESS", 0),
            ("Vpc", "UPDATE_IN_PROGRESS", 2),
            ("Vpc", "UPDATE_COMPLETE", 8),
            ("first", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", 9),
            ("Gone", "DELETE_IN_PROGRESS", 9),
            ("Gone", "DELETE_COMPLETE", 70),
            ("first", "UPDATE_COMPLETE", 71),
        ),
        "second": second(
            ("second", "UPDATE_IN_PROGRESS", 80),
            ("Release", "UPDATE_IN_PROGRESS", 81),
            ("Release", "UPDATE_COMPLETE", 82),
        ),
    }
    found = timeline(events, graph=GRAPH)

    assert chain(found) == [
        "first change set",
        "first Path/Vpc",
        "second change set",
        "second Path/Release",
    ]
    assert found.steps["first"][-1].name == "Gone"


@pytest.mark.parametrize("events", [{}, {"first": []}])
def test_where_nothing_happened_there_is_nothing(
    events: Mapping[str, Sequence[StackEvent]],
) -> None:
    found = timeline(events, graph=GRAPH)
    assert (found.begun, found.seconds, found.steps, found.chain) == (None, 0, {}, ())
