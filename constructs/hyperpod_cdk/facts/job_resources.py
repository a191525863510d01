"""What a pod that has a node to itself may request, by instance type.

A request of more than the node's allocatable leaves the pod Pending for ever, so CPU and memory are
rounded down; a pod without limits on CPU may use all of it all the same.
"""

from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_cdk.facts.instance_types import InstanceFacts, instance_facts

AcceleratorResource = Literal["nvidia.com/gpu", "aws.amazon.com/neuron"]
GPU: Final[AcceleratorResource] = "nvidia.com/gpu"
NEURON: Final[AcceleratorResource] = "aws.amazon.com/neuron"
EFA: Final = "vpc.amazonaws.com/efa"
"""What Kubernetes calls the devices of a node (of Neuron the devices, not their cores).

https://github.com/NVIDIA/k8s-device-plugin and
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
"""

_MIB_PER_GIB = 1024
_RESOURCES: dict[str, AcceleratorResource] = {"GPU": GPU, "Neuron": NEURON}
# EFA's installer lets a node allocate so much a CPU, and a page more, in huge pages of 2 MiB,
# which are no allocatable memory any more:
# https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/141
_HUGEPAGES_MIB_PER_CPU, _HUGEPAGE_MIB = 2 * 110, 2
# AWS's jobs request no more: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
_MOST_HUGEPAGES_MIB = 5120
# What firmware and kernel keep of a type's memory is in no list; Karpenter estimates 7.5 percent:
# https://karpenter.sh/docs/reference/settings/ (VM_MEMORY_OVERHEAD_PERCENT)
_SEEN_BY_LINUX = 1 - 0.075
# What the kubelet of EKS's AMIs reserves, and the memory at which it evicts:
# https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/config.go
_RESERVED_MIB, _RESERVED_MIB_PER_POD, _EVICTION_MIB = 255, 11, 100
# For DaemonSets, which are the official chart's, EKS's, and what observes; an estimate. Of CPU also
# the kubelet's share, which is 0.06 of the first and 0.0025 to 0.01 of the others (same source).
_DAEMONS_MIB = 2048
_RESERVED_CPUS = 1.5


@dataclass(frozen=True, kw_only=True, slots=True)
class JobResources:
    """What one pod requests to have a node to itself.

    Attributes:
        accelerator: Name of the accelerators' resource; None for a type without.
        accelerators: Devices of a node; 0 for none.
        efa: EFA interfaces of a node, resource `vpc.amazonaws.com/efa`; 0 for none.
        hugepages_2mi_mib: Memory in huge pages of 2 MiB, in MiB; 0 for a type without EFA.
        cpu: Whole CPUs, fewer than are allocatable with one thread per core.
        memory_gib: Whole GiB, less than is allocatable.
    """

    accelerator: AcceleratorResource | None
    accelerators: int
    efa: int
    hugepages_2mi_mib: int
    cpu: int
    memory_gib: int


def job_resources(instance_type: str) -> JobResources | None:
    """Return what a pod may request; None for a type that no public source describes.

    Raises:
        ValueError: HyperPod has no such instance type, nor EC2.
    """
    facts = instance_facts(instance_type)
    if facts is None:
        return None
    device = facts.accelerator
    return JobResources(
        accelerator=_RESOURCES[device.kind] if device else None,
        accelerators=device.count if device else 0,
        efa=facts.efa_interfaces,
        hugepages_2mi_mib=min(_MOST_HUGEPAGES_MIB, _hugepages_mib(facts, cpus=_cores(facts))),
        cpu=_cpus(facts),
        memory_gib=_memory_gib(facts),
    )


def _cores(facts: InstanceFacts) -> int:
    """Return the CPUs of a node with one thread per core."""
    return facts.vcpus // facts.default_threads_per_core


def _cpus(facts: InstanceFacts) -> int:
    return max(1, int(_cores(facts) - _RESERVED_CPUS))


def _hugepages_mib(facts: InstanceFacts, *, cpus: int) -> int:
    return _HUGEPAGES_MIB_PER_CPU * cpus + _HUGEPAGE_MIB if facts.efa_interfaces else 0


def _memory_gib(facts: InstanceFacts) -> int:
    taken = _RESERVED_MIB + _RESERVED_MIB_PER_POD * facts.max_pods + _EVICTION_MIB + _DAEMONS_MIB
    taken += _hugepages_mib(facts, cpus=facts.vcpus)
    return max(1, int(facts.memory_mib * _SEEN_BY_LINUX - taken) // _MIB_PER_GIB)
