"""What sections say of changes, where nothing of theirs is asked about."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import hyperpod_cdk
from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.effects.sections import section_effects, sections
from hyperpod_cdk.schema.errors import key_path
from tests.conftest import Assemble, Configure

FOLDER = Path(str(hyperpod_cdk.__file__)).parent


def test_each_file_of_effects_is_asked() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/effects.py")} == {*sections()}


@pytest.mark.parametrize("resources", [None, [], {"C": None}, {"C": {"Type": "AWS::EKS::Cluster"}}])
def test_an_odd_template_has_no_effects(resources: object) -> None:
    state = StackState(template={"Resources": resources})
    assert [*section_effects(state, state)] == []


def eks(version: object) -> StackState:
    properties = {"Version": version}
    made = {"Type": "AWS::EKS::Cluster", "Properties": properties}
    return StackState(template={"Resources": {"E": made}})


@pytest.mark.parametrize(
    ("former", "wanted", "rules"),
    [
        (eks("1.34"), eks("1.35"), ["eks.version"]),
        (eks("1.34"), eks("1.34"), []),
        (eks(None), eks("1.35"), []),
    ],
)
def test_what_a_section_says(former: StackState, wanted: StackState, rules: list[str]) -> None:
    found: list[Effect] = [*section_effects(former, wanted)]
    assert [each.rule for each in found] == rules


EDITOR = {
    "principals": ["arn:aws:iam::111122223333:role/Vision"],
    "namespaces": ["hyperpod-ns-vision"],
    "training_jobs": True,
}
TEAM = {"name": "vision", "quota": [{"instance_type": "ml.m5.2xlarge", "nodes": 1}]}
CLAIMS = [{}, {"namespace": "vision"}]
# What is added to the default configuration, and the rules and places of what is said of it.
ADDED: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "editors": (
        {"eks": {"editors": [EDITOR]}},
        [("eks.access", "eks.editors"), ("eks.access", "eks.editors")],
    ),
    "viewers": (
        {"eks": {"viewers": ["arn:aws:iam::111122223333:user/eve"]}},
        [("eks.access", "eks.viewers")],
    ),
    "claims": ({"storage": {"claims": CLAIMS}}, [("storage.claim-new", "storage")]),
    "capacity": ({"storage": {"capacity_gib": 2400}}, [("storage.capacity", "storage")]),
    "governance": (
        {"governance": {"teams": [TEAM]}},
        [("governance.team-new", "governance.teams.vision")],
    ),
    "budget": (
        {"observability": {"budget": {"monthly_usd": 100, "emails": ["a@example.com"]}}},
        [("observability.budget", "observability.budget")],
    ),
}


def test_every_section_has_a_case() -> None:
    keys = {place.partition(".")[0] for _, rules in ADDED.values() for _, place in rules}
    assert {*sections()} - keys == {"hyperpod", "node_groups"}, "add a row to ADDED"


@pytest.mark.parametrize("name", ADDED)
def test_each_section_says_what_its_change_does_and_takes_it_back(
    name: str, configure: Configure, assemble: Assemble, snapshot: SnapshotAssertion
) -> None:
    changes, expected = ADDED[name]
    templates = [assemble(configure(each)).templates() for each in ({}, changes)]
    said = [*_said(*templates)]
    back = [*_said(*reversed(templates))]
    own = [each for each in said if not each.rule.startswith(("eks.addon", "cluster.", "group."))]
    assert [(each.rule, key_path(each.place)) for each in own] == expected
    assert [each.text for each in (*said, *back)] == snapshot


def _said(former: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Effect]:
    for name in {**former, **wanted}:
        before, after = (StackState(template=each.get(name, {})) for each in (former, wanted))
        yield from section_effects(before, after)
