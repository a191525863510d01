"""What the native type lacks is found by comparing a request with its schema."""

from typing import Any

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.facts.native_cluster import lacking, native_regions
from tests.support.configs import EVERY_FIELD


def test_regions_are_those_with_a_schema() -> None:
    assert "us-west-2" in native_regions()
    assert "ca-west-1" not in native_regions()


def test_what_the_type_lacks_of_all_fields() -> None:
    found = lacking(load_config(EVERY_FIELD).cluster.to_request())

    assert [(".".join(map(str, each.path)), each.is_member) for each in found] == [
        ("InstanceGroups.0.AutoPatchConfig.IdleWaitWindowInSeconds", True),
        ("InstanceGroups.0.AutoPatchConfig.PatchSchedule.NextPatchDate", True),
        ("InstanceGroups.0.OnStartDeepHealthChecks.2", False),
        ("InstanceGroups.1.AutoPatchConfig.DrainPolicy", True),
        ("InstanceGroups.1.AutoPatchConfig.PatchingStrategy", False),
        ("RestrictedInstanceGroups.0.ScheduledUpdateConfig", True),
    ]


@pytest.mark.parametrize(
    ("group", "is_found"),
    [
        ({"ImageId": "default"}, False),
        ({"ImageId": "image"}, True),
        ({"ImageId": "${Token[Image.1]}"}, False),
        ({"KubernetesConfig": {"Labels": {"any/key": "a"}}}, False),
        ({"CapacityRequirements": {"Spot": {}}}, False),
        ({"CapacityRequirements": {"Spot": {"MaxPrice": "1"}}}, True),
        ({"CurrentCount": 1}, True),
    ],
)
def test_values_are_compared_unless_they_are_tokens(group: dict[str, Any], is_found: bool) -> None:
    assert bool([*lacking({"InstanceGroups": [group]})]) is is_found
