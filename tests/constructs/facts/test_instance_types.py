"""The instance types of the API, and which of them have accelerators."""

import pytest

from hyperpod_cdk.facts.instance_types import instance_types, is_accelerated

ACCELERATED_FAMILIES = {
    *("g4dn", "g5", "g6", "g6e", "g7", "g7e", "gr6"),
    *("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200"),
    *("trn1", "trn1n", "trn2"),
}


def test_instance_types_are_those_of_the_api() -> None:
    types = instance_types()

    assert {"ml.p5.48xlarge", "ml.trn2.48xlarge", "ml.m5.2xlarge"} <= set(types)
    assert all(instance_type.startswith("ml.") for instance_type in types)
    assert len(set(types)) == len(types)


@pytest.mark.parametrize("instance_type", instance_types())
def test_accelerators_go_by_family(instance_type: str) -> None:
    family = instance_type.split(".")[1]

    assert is_accelerated(instance_type) is (family in ACCELERATED_FAMILIES)


@pytest.mark.parametrize("instance_type", ["p5.48xlarge", "ml.p5.huge", ""])
def test_unknown_type_is_refused(instance_type: str) -> None:
    with pytest.raises(ValueError, match="is not a HyperPod instance type"):
        is_accelerated(instance_type)
