"""The pods that every node runs before anything else."""

from hyperpod_cdk.instance_facts import InstanceFacts

# DaemonSet of each EKS add-on that has one.
ADD_ON_DAEMON_SETS = {
    "vpc-cni": "aws-node",
    "kube-proxy": "kube-proxy",
    "eks-pod-identity-agent": "eks-pod-identity-agent",
}
STORAGE_ADD_ON_DAEMON_SETS = {"aws-fsx-csi-driver": "fsx-csi-node"}
# Of the chart of the HyperPod dependencies, by the accelerator whose nodes they are for.
CHART_DAEMON_SETS = {
    "GPU": ("nvidia-device-plugin", "health-monitoring-agent"),
    "Neuron": ("neuron-device-plugin", "health-monitoring-agent-non-nvidia"),
}
EFA_DAEMON_SET = "aws-efa-k8s-device-plugin"


def daemon_sets(facts: InstanceFacts, *, storage: bool) -> tuple[str, ...]:
    """Name the DaemonSets with a pod on a node of this type.

    Args:
        facts: The type.
        storage: Whether the FSx CSI driver is installed.
    """
    return (
        *ADD_ON_DAEMON_SETS.values(),
        *(STORAGE_ADD_ON_DAEMON_SETS.values() if storage else ()),
        *(CHART_DAEMON_SETS[facts.accelerator.kind] if facts.accelerator else ()),
        *((EFA_DAEMON_SET,) if facts.efa_interfaces else ()),
    )


def room_for_pods(facts: InstanceFacts, *, storage: bool) -> int:
    """Return how many pods fit on a node besides those of DaemonSets; negative when not even they.

    Pods on the host's network count too: the kubelet limits all pods of a node.
    """
    return facts.max_pods - len(daemon_sets(facts, storage=storage))
