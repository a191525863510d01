"""The pods that every node runs before anything else."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import InstanceFacts, instance_facts, is_of_hyperpod
from hyperpod_cdk.node_health.section import RELEASE

# DaemonSet of each EKS add-on that has one.
ADD_ON_DAEMON_SETS = {
    "vpc-cni": "aws-node",
    "kube-proxy": "kube-proxy",
    "eks-pod-identity-agent": "eks-pod-identity-agent",
}
STORAGE_ADD_ON_DAEMON_SETS = {"aws-fsx-csi-driver": "fsx-csi-node"}
_NVIDIA_PLUGIN = "nvidia-device-plugin"
# DaemonSets of the components of the HyperPod dependencies, by the accelerator they are for.
_ACCELERATOR_DAEMON_SETS = {
    "GPU": {
        "nvidia_device_plugin": _NVIDIA_PLUGIN,
        "health_monitoring_agent": "health-monitoring-agent",
    },
    "Neuron": {
        "neuron_device_plugin": "neuron-device-plugin",
        "health_monitoring_agent": "health-monitoring-agent-non-nvidia",
    },
}
# Types that the official chart does not list for a DaemonSet, by how their names begin. Beside
# nodes of EC2, it is told all types that NVIDIA's plugin is for.
# https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/values.yaml
_UNLISTED = {
    _NVIDIA_PLUGIN: ("ml.g4dn.", "ml.g7."),
    "health-monitoring-agent": ("ml.g4dn.", "ml.g7."),
    "neuron-device-plugin": ("ml.trn2.3xlarge", "trn2."),
}
_EFA_DAEMON_SETS = {"efa_device_plugin": "aws-efa-k8s-device-plugin"}
_NODE_HEALTH = f"{RELEASE}-check"


def daemon_sets(facts: InstanceFacts, *, config: Config) -> tuple[str, ...]:
    """Name the DaemonSets with a pod on a node of this type."""
    has_script = config.node_health is not None and config.node_health.script is not None
    unlisted = unlisted_daemon_sets(facts, config=config)
    return (
        *ADD_ON_DAEMON_SETS.values(),
        *(STORAGE_ADD_ON_DAEMON_SETS.values() if config.needs_fsx_csi_driver else ()),
        *(
            name
            for addon in config.operators.addons
            if not (addon.leaves_out_hyperpod and is_of_hyperpod(facts.instance_type))
            for name in addon.daemon_sets
        ),
        *(name for name in _of_components(facts, config=config) if name not in unlisted),
        *((_NODE_HEALTH,) if has_script and facts.accelerator else ()),
    )


def unlisted_daemon_sets(facts: InstanceFacts, *, config: Config) -> tuple[str, ...]:
    """Name the DaemonSets that are for such hardware, but that the chart does not run on it."""
    return tuple(
        name
        for name in _of_components(facts, config=config)
        if facts.instance_type.startswith(_UNLISTED.get(name, ()))
        and not (name == _NVIDIA_PLUGIN and config.node_groups)
    )


def health_monitoring_agents(config: Config) -> tuple[str, ...]:
    """Name the DaemonSets of HyperPod's health monitoring agent that watch the configured types.

    Without an accelerator in any group, the DaemonSet for GPUs is named.
    """
    types = {each for group in config.cluster.all_groups for each in group.possible_instance_types}
    facts = [instance_facts(each) for each in types]
    kinds = {each.accelerator.kind for each in facts if each and each.accelerator} or {"GPU"}
    return tuple(
        by_component["health_monitoring_agent"]
        for kind, by_component in _ACCELERATOR_DAEMON_SETS.items()
        if kind in kinds
    )


def _of_components(facts: InstanceFacts, *, config: Config) -> tuple[str, ...]:
    by_component = {
        **(_ACCELERATOR_DAEMON_SETS[facts.accelerator.kind] if facts.accelerator else {}),
        **(_EFA_DAEMON_SETS if facts.efa_interfaces else {}),
    }
    on = config.components.switches()
    if not is_of_hyperpod(facts.instance_type):
        on = {**on, "health_monitoring_agent": False}
    return tuple(name for component, name in by_component.items() if on[component])


def room_for_pods(facts: InstanceFacts, *, config: Config) -> int:
    """Return how many pods fit on a node with those of DaemonSets; negative if those do not.

    Pods on the host's network count too: the kubelet limits all pods of a node.
    """
    return facts.max_pods - len(daemon_sets(facts, config=config))
