"""Makes a history that violates an invariant as small as it gets, and prints it."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TypeVar

from tests.provisioner.histories.history import Outcome, play
from tests.provisioner.histories.invariants import Violation
from tests.provisioner.histories.plan import Plan
from tests.provisioner.histories.world import STARTS_AT, Faults, Row

T = TypeVar("T")

_MOST_PLAYS = 400
_WIDEST = 150
_LASTING = ("describe_lag", "stack_lag", "skew", "hidden", "turns_back", "steady")
"""What is wrong with all reads of a history."""
_NO_FAULTS = Faults()


def shrunk(outcome: Outcome, *, kind: str) -> Outcome:
    """Return the smallest history found that still has a violation of a kind."""
    best = outcome
    # From here on the faults are listed, so that each can be left out alone.
    listed = replace(outcome.plan.faults, at=tuple(outcome.drawn))
    plays = 1
    again = _played(replace(outcome.plan, faults=listed), kind)
    best = again or best
    smaller = True
    while smaller and plays < _MOST_PLAYS:
        smaller = False
        for plan in _smaller(best.plan):
            plays += 1
            tried = _played(plan, kind)
            if tried is not None:
                best, smaller = tried, True
                break
            if plays >= _MOST_PLAYS:
                break
    return best


def _played(plan: Plan, kind: str) -> Outcome | None:
    outcome = play(plan)
    return outcome if any(one.kind == kind for one in outcome.violations) else None


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Yield plans in which less happens, the boldest first."""
    for name in ("heals", "lasts", "foreign"):
        if getattr(plan, name):
            yield _with(plan, **{name: False})
    operations = plan.operations
    for at in range(len(operations) - 1, -1, -1):
        if len(operations) > 1:
            rest = (*operations[:at], *operations[at + 1 :])
            hands = tuple(
                replace(one, operation=one.operation - (one.operation > at))
                for one in plan.by_hand
                if one.operation != at
            )
            yield replace(plan, operations=rest, by_hand=hands)
    for at in range(len(plan.by_hand)):
        yield replace(plan, by_hand=(*plan.by_hand[:at], *plan.by_hand[at + 1 :]))
    yield from _with_fewer_faults(plan)
    for at, operation in enumerate(operations):
        for name in ("fails_after", "delivered_again"):
            if getattr(operation, name) is not None:
                changed = _with(operation, **{name: None})
                yield replace(plan, operations=(*operations[:at], changed, *operations[at + 1 :]))
    yield from _plainer(plan)


def _with(whole: T, **changes: object) -> T:
    return replace(whole, **changes)  # type: ignore[type-var]


def _with_fewer_faults(plan: Plan) -> Iterator[Plan]:
    drawn = plan.faults.at or ()
    size = len(drawn)
    while size >= 1:
        for begin in range(0, len(drawn), size):
            left = (*drawn[:begin], *drawn[begin + size :])
            yield replace(plan, faults=replace(plan.faults, at=left))
        size //= 2
    for name in _LASTING:
        if getattr(plan.faults, name) != getattr(_NO_FAULTS, name):
            yield replace(plan, faults=_with(plan.faults, **{name: getattr(_NO_FAULTS, name)}))


def _plainer(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with a service that conducts itself in one thing as usual."""
    plain = type(plan.conduct)()
    for one in fields(plan.conduct):
        usual = getattr(plain, one.name)
        # Other durations are no simpler.
        if getattr(plan.conduct, one.name) != usual and not _is_duration(one.name):
            yield replace(plan, conduct=replace(plan.conduct, **{one.name: usual}))


def _is_duration(name: str) -> bool:
    return name.endswith("_seconds")


def printed(outcome: Outcome) -> str:
    """Return a history as a table of what happened when, with what makes it happen again."""
    plan = outcome.plan
    lines = [
        f"make histories COUNT=1 SEED={plan.seed} PROFILE={plan.profile} SUBJECT={plan.about}",
        *(f"  {_named(one)}" for one in outcome.violations),
        f"  faults: {_told(plan)}",
    ]
    lines += [_line(row) for row in outcome.rows]
    return "\n".join(lines)


def _told(plan: Plan) -> str:
    faults = plan.faults
    told = [
        f"{name} {value}"
        for name in _LASTING
        if (value := getattr(faults, name)) != getattr(_NO_FAULTS, name)
    ]
    if faults.at is None:
        told += [
            f"{name} {value}"
            for name in ("throttled", "lost", "killed", "garbled", "bursts")
            if (value := getattr(faults, name))
        ]
    continuous = getattr(plan.operations[0].template, "continuous", None)
    mode = [] if continuous is None else ["continuous" if continuous else "classic"]
    usual = type(plan.conduct)()
    unusual = [
        f"{one.name} {getattr(plan.conduct, one.name)}"
        for one in fields(plan.conduct)
        if not _is_duration(one.name)
        and getattr(plan.conduct, one.name) != getattr(usual, one.name)
    ]
    return ", ".join([*mode, *(told or ["none but those below"]), *unusual])


def _named(violation: Violation) -> str:
    return (
        f"VIOLATED {violation.invariant.name} ({violation.invariant.value}): {violation.kind}"
        f" {'' if violation.text == violation.kind else violation.text}"
    )


def _line(row: Row) -> str:
    at, who, what, facts = row
    text = f"{at - STARTS_AT:9.1f}  {who:<22}{what % facts if facts else what}"
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"
