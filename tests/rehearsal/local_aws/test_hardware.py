"""The emulator knows the architecture of every instance type."""

from hyperpod_cdk.facts.instance_types import instance_facts, instance_types
from hyperpod_emulator.hardware import node_architecture


def test_every_instance_type_has_an_architecture() -> None:
    assert {node_architecture(instance_facts(name)) for name in instance_types()} == {
        "amd64",
        "arm64",
    }
