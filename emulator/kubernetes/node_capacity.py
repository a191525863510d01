"""What a HyperPod node offers to Kubernetes, by its instance type."""

from hyperpod_cdk.facts.instance_types import instance_facts

# What NVIDIA's and Neuron's device plugins report,
# https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia.html
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
GPU, NEURON = "nvidia.com/gpu", "aws.amazon.com/neuron"
# and the EFA device plugin, https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html.
EFA = "vpc.amazonaws.com/efa"
_DEVICES = {"GPU": GPU, "Neuron": NEURON}
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


def node_capacity(instance_type: str) -> dict[str, str]:
    """Return the capacity of a node whose device plugins run; empty for an unknown type."""
    facts = instance_facts(instance_type)
    if facts is None:
        return {}
    capacity = {
        "cpu": str(facts.vcpus),
        "memory": f"{facts.memory_mib}Mi",
        "pods": str(facts.max_pods),
    }
    if facts.accelerator is not None:
        capacity[_DEVICES[facts.accelerator.kind]] = str(facts.accelerator.count)
    if facts.efa_interfaces:
        capacity[EFA] = str(facts.efa_interfaces)
    return capacity


def node_architecture(instance_type: str) -> str:
    """Return the value of the label `kubernetes.io/arch`."""
    facts = instance_facts(instance_type)
    return _ARCHITECTURES["x86_64" if facts is None else facts.architecture]
