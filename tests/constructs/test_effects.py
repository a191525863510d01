"""What sections say of changes, where nothing of theirs is asked about."""

from pathlib import Path

import pytest

import hyperpod_cdk
from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.effects.sections import section_effects, sections

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
