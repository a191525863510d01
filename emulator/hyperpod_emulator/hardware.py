"""What an instance type has, which the emulator is given, and what its nodes offer of it."""

from collections.abc import Callable
from typing import Protocol

# What NVIDIA's and Neuron's device plugins report,
# https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia.html
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
GPU, NEURON = "nvidia.com/gpu", "aws.amazon.com/neuron"
# and the EFA device plugin, https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html.
EFA = "vpc.amazonaws.com/efa"
_DEVICES = {"GPU": GPU, "Neuron": NEURON}
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


class Accelerator(Protocol):
    """The accelerators of an instance, all alike."""

    @property
    def kind(self) -> str:
        """GPU, or Neuron."""

    @property
    def count(self) -> int:
        """Devices of an instance."""


class Hardware(Protocol):
    """Hardware of an instance type, as EC2 describes it."""

    @property
    def vcpus(self) -> int:
        """Virtual CPUs with the default threads per core."""

    @property
    def default_threads_per_core(self) -> int:
        """2 with simultaneous multithreading, else 1."""

    @property
    def memory_mib(self) -> int:
        """Memory in MiB."""

    @property
    def architecture(self) -> str:
        """`x86_64` or `arm64`."""

    @property
    def accelerator(self) -> Accelerator | None:
        """Its GPUs or Trainium chips."""

    @property
    def efa_interfaces(self) -> int:
        """Most EFA interfaces."""

    @property
    def max_pods(self) -> int:
        """Most pods on a node."""


HardwareOf = Callable[[str], Hardware | None]
"""Returns the hardware of an instance type, such as `ml.p5.48xlarge`; None if it is not known."""


def unknown_hardware(_instance_type: str) -> Hardware | None:
    """Know no instance type's hardware."""
    return None


def node_capacity(hardware: Hardware | None) -> dict[str, str]:
    """Return the capacity of a node whose device plugins run; empty for unknown hardware."""
    if hardware is None:
        return {}
    capacity = {
        "cpu": str(hardware.vcpus),
        "memory": f"{hardware.memory_mib}Mi",
        "pods": str(hardware.max_pods),
    }
    if hardware.accelerator is not None:
        capacity[_DEVICES[hardware.accelerator.kind]] = str(hardware.accelerator.count)
    if hardware.efa_interfaces:
        capacity[EFA] = str(hardware.efa_interfaces)
    return capacity


def node_architecture(hardware: Hardware | None) -> str:
    """Return the value of the label `kubernetes.io/arch`."""
    return _ARCHITECTURES["x86_64" if hardware is None else hardware.architecture]
