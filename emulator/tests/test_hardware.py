"""What a node offers is what its instance type has."""

from dataclasses import dataclass

import pytest

from hyperpod_emulator.hardware import node_architecture, node_capacity, unknown_hardware


@dataclass(frozen=True)
class Devices:
    kind: str
    count: int


@dataclass(frozen=True)
class Machine:
    vcpus: int = 8
    default_threads_per_core: int = 2
    memory_mib: int = 32768
    architecture: str = "x86_64"
    accelerator: Devices | None = None
    efa_interfaces: int = 0
    max_pods: int = 14


@pytest.mark.parametrize(
    ("machine", "capacity"),
    [
        (Machine(), {"cpu": "8", "memory": "32768Mi", "pods": "14"}),
        (
            Machine(accelerator=Devices("GPU", 8), efa_interfaces=32),
            {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"},
        ),
        (
            Machine(accelerator=Devices("Neuron", 16), efa_interfaces=8),
            {"aws.amazon.com/neuron": "16", "vpc.amazonaws.com/efa": "8"},
        ),
    ],
)
def test_capacity(machine: Machine, capacity: dict[str, str]) -> None:
    assert node_capacity(machine).items() >= capacity.items()


def test_hardware_that_is_not_known_offers_nothing() -> None:
    assert node_capacity(unknown_hardware("ml.unknown.large")) == {}


@pytest.mark.parametrize(("architecture", "label"), [("x86_64", "amd64"), ("arm64", "arm64")])
def test_architecture(architecture: str, label: str) -> None:
    assert node_architecture(Machine(architecture=architecture)) == label
