"""What is known of one instance type, and what follows from it for a node."""

from dataclasses import dataclass
from typing import Literal

# One network interface serves the pods of a HyperPod node, and of its addresses 50 at most.
# Matches the published table of pods and addresses by instance type:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
_MOST_POD_ADDRESSES = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Accelerator:
    """The accelerators of an instance, all alike.

    Attributes:
        kind: GPU (NVIDIA), or Neuron (AWS Trainium).
        name: Model, such as `H100` or `Trainium2`.
        count: Devices of an instance.
        memory_mib: Memory of one device in MiB.
    """

    kind: Literal["GPU", "Neuron"]
    name: str
    count: int
    memory_mib: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFacts:
    """Hardware of one instance type, as EC2 describes it.

    Attributes:
        instance_type: Name with its `ml.` prefix.
        vcpus: Virtual CPUs with the default threads per core.
        memory_mib: Memory in MiB.
        architecture: `x86_64` or `arm64`.
        accelerator: Its GPUs or Trainium chips; None for none.
        efa_interfaces: Most EFA interfaces; 0 for a type without EFA.
        network_cards: Network cards.
        ipv4_per_interface: IPv4 addresses of one network interface.
        default_threads_per_core: 2 with simultaneous multithreading, else 1.
        valid_threads_per_core: What may be asked for.
        local_nvme_gb: Instance store in GB; 0 for none.
        ebs_volumes: Most EBS volumes.
    """

    instance_type: str
    vcpus: int
    memory_mib: int
    architecture: str
    accelerator: Accelerator | None
    efa_interfaces: int
    network_cards: int
    ipv4_per_interface: int
    default_threads_per_core: int
    valid_threads_per_core: tuple[int, ...]
    local_nvme_gb: int
    ebs_volumes: int

    @property
    def pod_addresses(self) -> int:
        """IPv4 addresses of the interface that serves the pods, its own among them."""
        return min(self.ipv4_per_interface, _MOST_POD_ADDRESSES)

    @property
    def max_pods(self) -> int:
        """Most pods on a node, those of DaemonSets and the host's network among them."""
        return self.pod_addresses - 1

    @property
    def addresses_per_node(self) -> int:
        """IPv4 addresses of the subnet that one node takes: 81 for ml.p5.48xlarge.

        Each further network card has an interface with an address of its own.
        """
        return self.pod_addresses + self.network_cards - 1
