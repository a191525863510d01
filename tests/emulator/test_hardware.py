"""What a node offers is what its instance type has."""

import pytest

from hyperpod_cdk.facts.instance_types import instance_facts, instance_types
from hyperpod_emulator.hardware import node_architecture, node_capacity


@pytest.mark.parametrize(
    ("instance_type", "offered"),
    [
        ("ml.m5.2xlarge", {"cpu": "8", "memory": "32768Mi", "pods": "14"}),
        ("ml.p5.48xlarge", {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}),
        ("ml.trn1.32xlarge", {"aws.amazon.com/neuron": "16", "vpc.amazonaws.com/efa": "8"}),
    ],
)
def test_capacity(instance_type: str, offered: dict[str, str]) -> None:
    assert node_capacity(instance_facts(instance_type)).items() >= offered.items()


def test_every_instance_type_has_an_architecture() -> None:
    assert {node_architecture(instance_facts(each)) for each in instance_types()} == {
        "amd64",
        "arm64",
    }
