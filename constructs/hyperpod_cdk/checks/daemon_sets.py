"""The pods that every node runs before anything else."""

from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.instance_facts import InstanceFacts

# DaemonSet of each EKS add-on that has one.
ADD_ON_DAEMON_SETS = {
    "vpc-cni": "aws-node",
    "kube-proxy": "kube-proxy",
    "eks-pod-identity-agent": "eks-pod-identity-agent",
}
STORAGE_ADD_ON_DAEMON_SETS = {"aws-fsx-csi-driver": "fsx-csi-node"}
# DaemonSets of the components of the HyperPod dependencies, by the accelerator they are for.
_ACCELERATOR_DAEMON_SETS = {
    "GPU": {
        "nvidia_device_plugin": "nvidia-device-plugin",
        "health_monitoring_agent": "health-monitoring-agent",
    },
    "Neuron": {
        "neuron_device_plugin": "neuron-device-plugin",
        "health_monitoring_agent": "health-monitoring-agent-non-nvidia",
    },
}
_EFA_DAEMON_SETS = {"efa_device_plugin": "aws-efa-k8s-device-plugin"}


def daemon_sets(facts: InstanceFacts, *, deployment: Deployment) -> tuple[str, ...]:
    """Name the DaemonSets with a pod on a node of this type.

    Args:
        facts: The type.
        deployment: What tells whether the FSx CSI driver and the components are installed.
    """
    by_component = {
        **(_ACCELERATOR_DAEMON_SETS[facts.accelerator.kind] if facts.accelerator else {}),
        **(_EFA_DAEMON_SETS if facts.efa_interfaces else {}),
    }
    on = deployment.components.switches()
    return (
        *ADD_ON_DAEMON_SETS.values(),
        *(STORAGE_ADD_ON_DAEMON_SETS.values() if deployment.storage else ()),
        *(name for component, name in by_component.items() if on[component]),
    )


def room_for_pods(facts: InstanceFacts, *, deployment: Deployment) -> int:
    """Return how many pods fit on a node besides those of DaemonSets; negative when not even they.

    Pods on the host's network count too: the kubelet limits all pods of a node.
    """
    return facts.max_pods - len(daemon_sets(facts, deployment=deployment))
