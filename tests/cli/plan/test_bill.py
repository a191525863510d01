"""What a month of deployed templates costs."""

from datetime import date
from typing import Any

import pytest

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cli.plan.bill import month_change, with_months

SPOT = {"NodegroupName": "spot", "CapacityType": "SPOT", "InstanceTypes": ["m5.large"]}


@pytest.mark.parametrize(
    ("kind", "properties", "name"),
    [
        ("AWS::FSx::FileSystem", {"StorageCapacity": {"Ref": "Size"}}, "FSx for Lustre"),
        ("AWS::EKS::Nodegroup", {**SPOT, "ScalingConfig": {"DesiredSize": 1}}, "spot"),
    ],
)
def test_what_a_reference_sizes_and_spot_have_no_price(
    kind: str, properties: dict[str, Any], name: str
) -> None:
    states = [
        StackState(template={"Resources": {"Billed": {"Type": kind, "Properties": properties}}})
    ]
    month = month_change([], states, region="us-west-2", day=date(2026, 10, 6))
    assert f"paid otherwise: {name}" in str(month)


@pytest.mark.parametrize("resources", [None, [], {"C": None}, {"C": {"Type": "Custom::X"}}])
def test_an_odd_template_costs_what_it_costs(resources: object) -> None:
    states = [StackState(template={"Resources": resources})]
    month = month_change(states, states, region="us-west-2", day=date(2026, 10, 6))
    assert str(month).endswith("USD: 0.00")


@pytest.mark.parametrize(("rule", "is_saved"), [("stack.deleted", True), ("stack.kept", False)])
def test_what_is_kept_saves_nothing(rule: str, is_saved: bool) -> None:
    (effect,) = with_months(
        [Effect(rule=rule, text="KMS key", resources=frozenset(["Key"]))],
        former=StackState(template={"Resources": {"Key": {"Type": "AWS::KMS::Key"}}}),
        wanted=StackState(template={"Resources": {}}),
        region="us-west-2",
        day=date(2026, 10, 6),
    )
    assert (effect.month is not None) is is_saved
