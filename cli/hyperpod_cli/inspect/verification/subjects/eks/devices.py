"""GPUs, Trainium chips and EFA interfaces that nodes offer to pods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.facts.instance_types import InstanceFacts, facts_of_any
from hyperpod_cdk.facts.job_resources import EFA, GPU, NEURON
from hyperpod_cdk.node_groups.section import EFA_LABEL
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import allocatable, nodes_command
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, labels_of

_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_NAME = "NAME:.metadata.name"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Device:
    column: str
    resource: str
    component: str
    count: Callable[[InstanceFacts], int]
    advice: str

    @property
    def columns(self) -> str:
        """What kubectl shows; a shell would take a backslash that is not quoted."""
        path = f".status.allocatable.{self.resource.replace('.', chr(92) + '.')}"
        return f"-o 'custom-columns={_NAME},{self.column}:{path}'"


def _accelerators(kind: str) -> Callable[[InstanceFacts], int]:
    def count(facts: InstanceFacts) -> int:
        device = facts.accelerator
        return device.count if device is not None and device.kind == kind else 0

    return count


# https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia.html
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
# https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
_DEVICES = (
    _Device(
        column="GPU",
        resource=GPU,
        component="nvidia_device_plugin",
        count=_accelerators("GPU"),
        advice="GPU not visible: look whether the NVIDIA device plugin runs on the node (`kubectl "
        "get pods -A -o wide | grep nvidia-device-plugin`) and what it logs; its chart does not "
        "know every type. When the plugin sees fewer than there are, a GPU has failed: replace the "
        "node",
    ),
    _Device(
        column="NEURON",
        resource=NEURON,
        component="neuron_device_plugin",
        count=_accelerators("Neuron"),
        advice="Trainium not visible: look whether the Neuron device plugin runs on the node "
        "(`kubectl get pods -n kube-system -o wide | grep neuron`) and what it logs. When it sees "
        "fewer than there are, a chip has failed: replace the node",
    ),
    _Device(
        column="EFA",
        resource=EFA,
        component="efa_device_plugin",
        count=lambda facts: facts.efa_interfaces,
        advice="EFA not working: look whether the EFA device plugin runs on the node (`kubectl "
        "get pods -A -o wide | grep efa`), and that the nodes' security group lets all traffic "
        "from and to itself through; nodes that talk by EFA must be in one zone",
    ),
)


@subject(phase=Phase.NODES, needs_kubernetes=True)
def devices(deployment: LiveDeployment) -> Checks:
    """Each node offers the GPUs, Trainium chips and EFA interfaces of its type."""
    on = deployment.config.components.switches()
    for device in _DEVICES:
        if on[device.component] and _is_wanted(device, deployment=deployment):
            yield from _check(device, deployment=deployment)


def _is_wanted(device: _Device, *, deployment: LiveDeployment) -> bool:
    """Return whether there is a group each of whose possible types has the device."""
    config = deployment.config
    types = [
        *(
            group.possible_instance_types
            for group in config.cluster.all_groups
            if group.instance_count
        ),
        *(
            group.instance_types
            for group in config.node_groups
            if group.desired_size and (group.has_efa or device.column != "EFA")
        ),
    ]
    return any(all(_count(device, name) for name in of_group) for of_group in types)


def _count(device: _Device, instance_type: str) -> int:
    facts = facts_of_any(instance_type)
    return 0 if facts is None else device.count(facts)


def _of_node(device: _Device, labels: Mapping[str, str]) -> int:
    """Return how many a node has; one of EC2 has the interfaces that its group gives it."""
    without = NODE_GROUP_LABEL in labels and labels.get(EFA_LABEL) != "true"
    if device.column == "EFA" and without:
        return 0
    return _count(device, labels.get(_INSTANCE_TYPE, ""))


def _check(device: _Device, *, deployment: LiveDeployment) -> Checks:
    config = deployment.config
    which = "kubectl get nodes" if config.node_groups else nodes_command(config)
    command = f"{which} {device.columns}"
    having = [
        (node, count)
        for node in (*deployment.nodes, *deployment.ec2_nodes)
        if (count := _of_node(device, labels_of(node)))
    ]
    if not having:
        yield checked(
            command,
            problem="no node is of a type that has any",
            advice="The node itself is missing: `hyperpod-cdk status --cluster "
            f"{config.cluster.name}` says what it waits for",
        )
        return
    yield checked(command, problem=_problem(device, having), advice=device.advice)


def _problem(device: _Device, having: Sequence[tuple[Mapping[str, Any], int]]) -> list[str]:
    return [
        f"{node['metadata']['name']} offers {offered} of {count}"
        for node, count in having
        if (offered := allocatable(node).get(device.resource, "none")) != str(count)
    ]
