"""The instance types HyperPod accepts, and what is known of each.

The data file is written by `make generate` from public packages; none of them
is needed here. Hardware is EC2's own description. Regions are derived from SageMaker's price list:
good for a hint, not for a refusal.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from hyperpod_cdk.facts import data_of
from hyperpod_cdk.facts.service_limits import shape

_PREFIX = "ml."
# EC2's naming convention puts the family first; these families carry GPUs or Trainium chips.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
_ACCELERATED = re.compile(r"(ml\.)?(p|g|gr|trn)\d")
# By the same convention, an option after a hyphen names the chip; those of NVIDIA Grace are Arm's.
# EC2's answer as public packages carry it lacks these types:
# https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html
_GRACE = re.compile(r"(ml\.)?p\w+-gb\d")
# One network interface serves the pods of a HyperPod node, and of its addresses 50 at most.
# Matches the published table of pods and addresses by instance type:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
_MOST_POD_ADDRESSES = 50
_FIRST_INTERFACES = 2
# The pods of the CNI and of kube-proxy.
_PODS_ON_HOST_NETWORK = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Accelerator:
    """The accelerators of an instance, all alike: GPUs (NVIDIA), or AWS Trainium (Neuron).

    The name is the model's, such as `H100` or `Trainium2`. The memory is that of one device, in
    MiB.
    """

    kind: Literal["GPU", "Neuron"]
    name: str
    count: int
    memory_mib: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFacts:
    """Hardware of one instance type, as EC2 describes it.

    Attributes:
        instance_type: Its name, with the `ml.` prefix if it is HyperPod's.
        vcpus: Virtual CPUs with the default threads per core.
        memory_mib: Memory in MiB.
        architecture: `x86_64` or `arm64`.
        accelerator: Its GPUs or Trainium chips; None for none.
        efa_interfaces: Most EFA interfaces; 0 for a type without EFA.
        network_cards: Network cards.
        interfaces: Most network interfaces of the first network card.
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
    interfaces: int
    ipv4_per_interface: int
    default_threads_per_core: int
    valid_threads_per_core: tuple[int, ...]
    local_nvme_gb: int
    ebs_volumes: int

    @property
    def pod_addresses(self) -> int:
        """IPv4 addresses of the interfaces that serve the pods, their own among them.

        On a node of EC2, as many as it takes for its first pods: one interface, and one more that
        the VPC CNI keeps ready.
        https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
        """
        if not is_of_hyperpod(self.instance_type):
            return min(self.interfaces, _FIRST_INTERFACES) * self.ipv4_per_interface
        return min(self.ipv4_per_interface, _MOST_POD_ADDRESSES)

    @property
    def max_pods(self) -> int:
        """Most pods on a node, those of DaemonSets and the host's network among them.

        On a node of EC2, as EKS's AMI reckons:
        https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
        """
        if not is_of_hyperpod(self.instance_type):
            return self.interfaces * (self.ipv4_per_interface - 1) + _PODS_ON_HOST_NETWORK
        return self.pod_addresses - 1

    @property
    def addresses_per_node(self) -> int:
        """IPv4 addresses of the subnet that one node takes: 81 for ml.p5.48xlarge.

        Each further network card has an interface with an address of its own; on a node of EC2 it
        is one for EFA only, without.
        """
        if not is_of_hyperpod(self.instance_type):
            return self.pod_addresses
        return self.pod_addresses + self.network_cards - 1


def is_of_hyperpod(instance_type: str) -> bool:
    """Tell whether a name is HyperPod's, such as `ml.p5.48xlarge`, and not EC2's `p5.48xlarge`."""
    return instance_type.startswith(_PREFIX)


def ec2_name(instance_type: str) -> str:
    """Return EC2's name of a type, such as `p5.48xlarge`, which is HyperPod's without `ml.`."""
    return instance_type.removeprefix(_PREFIX)


def instance_types() -> tuple[str, ...]:
    """Return every instance type of the HyperPod API, such as `ml.p5.48xlarge`."""
    return shape("sagemaker.ClusterInstanceType").values


def ec2_types() -> tuple[str, ...]:
    """Return the instance types of EC2 whose hardware is known: those of HyperPod without `ml.`."""
    return tuple(ec2_name(name) for name in instance_types() if instance_facts(name) is not None)


@cache
def instance_facts(instance_type: str) -> InstanceFacts | None:
    """Return what is known of a type by HyperPod's name or EC2's; None if no public source has it.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    row = _row(instance_type)
    if "vcpus" not in row:
        return None
    del row["region_set"]
    device = {
        name: row.pop(f"accelerator_{name}") for name in ("kind", "name", "count", "memory_mib")
    }
    row["valid_threads_per_core"] = tuple(row["valid_threads_per_core"])
    return InstanceFacts(
        instance_type=instance_type,
        accelerator=Accelerator(**device) if device["kind"] else None,
        **row,
    )


def facts_of_any(name: str) -> InstanceFacts | None:
    """Return what is known of a type by any name, such as a node's label; None for nothing."""
    return instance_facts(name) if _is_known(name) else None


def has_accelerators(name: str) -> bool:
    """Tell whether a type by any name is known to have GPUs or Trainium chips."""
    return _is_known(name) and is_accelerated(name)


def is_accelerated(instance_type: str) -> bool:
    """Tell whether a type, by HyperPod's name or EC2's, has GPUs or AWS Trainium chips.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    facts = instance_facts(instance_type)
    if facts is None:
        return _ACCELERATED.match(instance_type) is not None
    return facts.accelerator is not None


def is_arm(instance_type: str) -> bool:
    """Tell whether programs for x86-64 do not run on a type, by HyperPod's name or EC2's.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    facts = instance_facts(instance_type)
    if facts is None:
        return _GRACE.match(instance_type) is not None
    return facts.architecture == "arm64"


def default_threads_per_core(types: Iterable[str]) -> int | None:
    """Return the threads per core that suit a group: 2 where all its types have multithreading.

    None when one is not described, and HyperPod must decide.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    known = [instance_facts(instance_type) for instance_type in types]
    defaults = [facts.default_threads_per_core for facts in known if facts is not None]
    return min(defaults) if len(defaults) == len(known) and defaults else None


@cache
def regions_with(instance_type: str) -> frozenset[str]:
    """Return the regions where SageMaker's price list has the type; empty when it has it nowhere.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    index = _row(instance_type)["region_set"]
    return frozenset() if index is None else _region_sets()[index]


@cache
def regions_known() -> frozenset[str]:
    """Return the regions of which the price list says anything."""
    return frozenset().union(*_region_sets())


@cache
def training_plan_types() -> frozenset[str]:
    """Return the instance types that SageMaker training plans reserve."""
    return frozenset(data_of("instance_types")["training_plan_types"])


def _region_sets() -> list[frozenset[str]]:
    return [frozenset(regions) for regions in data_of("instance_types")["region_sets"]]


def _is_known(name: str) -> bool:
    return name in instance_types() or f"{_PREFIX}{name}" in instance_types()


def _row(instance_type: str) -> dict[str, Any]:
    # EC2 has the same hardware by the same name without the prefix.
    name = instance_type if is_of_hyperpod(instance_type) else f"{_PREFIX}{instance_type}"
    if name not in instance_types():
        raise ValueError(f"{instance_type!r} is not a HyperPod instance type")
    data = data_of("instance_types")
    return dict(zip(data["columns"], data["types"][name], strict=False))
