"""docs/failed-deployments.md: its states are CloudFormation's, and none that is left is missing."""

import inspect
import re
from collections.abc import Callable

import botocore.session
import pytest
from botocore.model import StringShape

from rehearsal.scenarios import SCENARIOS
from tests.support.configs import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "failed-deployments.md").read_text("utf-8")
_PICTURE = _PAGE.partition("```mermaid\n")[2].partition("```")[0]
_STATE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)*_(?:COMPLETE|FAILED|IN_PROGRESS)\b")
_SHOWN = re.compile(r"SCENARIO=([a-z-]+)`\s(?:ends\s)?in\s`([A-Z_]+)`")


@pytest.fixture(scope="module")
def states() -> set[str]:
    """Return the states of a stack, but for those of imports and of cleaning up afterwards."""
    model = botocore.session.get_session().get_service_model("cloudformation")
    shape = model.shape_for("StackStatus")
    assert isinstance(shape, StringShape)
    return {state for state in shape.enum if "IMPORT" not in state and "CLEANUP" not in state}


def test_states_are_those_of_cloudformation(states: set[str]) -> None:
    assert set(_STATE.findall(_PAGE)) - states == set()


def test_the_picture_shows_what_make_deploy_and_make_destroy_pass_through(states: set[str]) -> None:
    otherwise = {"CREATE_FAILED", "UPDATE_FAILED", "REVIEW_IN_PROGRESS", "DELETE_COMPLETE"}
    assert set(_STATE.findall(_PICTURE)) == states - otherwise


def test_each_state_that_is_left_after_a_failure_has_a_way_out(states: set[str]) -> None:
    rows = [line.split("|")[1] for line in _PAGE.splitlines() if line.startswith("| `")]
    left = {state for state in states if state.endswith(("FAILED", "ROLLBACK_COMPLETE"))}
    assert set(_STATE.findall(" ".join(rows))) == left | {"REVIEW_IN_PROGRESS"}


def source_of(function: Callable[..., object]) -> str:
    """Return the source of a function, and of those in its module that it calls."""
    assert inspect.isfunction(function)
    called = (function.__globals__.get(name) for name in function.__code__.co_names)
    own = [each for each in called if inspect.isfunction(each)]
    return "".join(
        inspect.getsource(each)
        for each in (function, *own)
        if each.__module__ == function.__module__
    )


def test_scenarios_end_in_the_state_that_the_page_says() -> None:
    shown = _SHOWN.findall(_PAGE)
    assert len(shown) == 4
    for name, state in shown:
        assert f'"hyperpod", "{state}"' in source_of(SCENARIOS[name].play)
