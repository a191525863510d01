"""The `helm.components` section: what of HyperPod's dependencies is installed."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Self

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.schema.limits import DNS_LABEL, Matching
from hyperpod_cdk.schema.section import Api, Section

Keys = tuple[str, ...]
"""Nested keys of the chart's values."""

# The namespace hyperpod-ns-<id> must fit into Kubernetes' 63 characters.
_LONGEST_TARGET_ID = 51
ComputeQuotaTargetId = Annotated[
    str,
    Matching(
        pattern=DNS_LABEL,
        longest=_LONGEST_TARGET_ID,
        rule=f"must be 1 to {_LONGEST_TARGET_ID} lower-case letters, digits and inner "
        "hyphens: the team's namespace is hyperpod-ns-<id>",
    ),
]


class ComponentsConfig(Section):
    """Components of HyperPod's dependencies: true, false, or left out for the default."""

    training_operator: Annotated[bool | None, Api("trainingOperators.enabled")] = None
    """Kubeflow training operator: PyTorchJob and four more job types. Default: true."""

    mpi_operator: Annotated[bool | None, Api("mpi-operator.enabled")] = None
    """MPI operator: MPIJob, which NCCL tests use. Default: true."""

    nvidia_device_plugin: Annotated[
        bool | None, Api("nvidia-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's GPUs to its pods. Default: true where an instance group has GPUs and
    gpu_operator is off."""

    neuron_device_plugin: Annotated[
        bool | None, Api("neuron-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's Neuron cores to its pods. Default: true where an instance group has Trainium
    chips."""

    efa_device_plugin: Annotated[
        bool | None, Api("aws-efa-k8s-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's EFA interfaces to its pods. Default: true where an instance group has EFA."""

    health_monitoring_agent: Annotated[bool | None, Api("health-monitoring-agent.enabled")] = None
    """Watches the hardware of each node; resiliency needs it. Default: true."""

    deep_health_check: Annotated[bool | None, Api("deep-health-check.enabled")] = None
    """What deep health checks run as, and the namespace aws-hyperpod; resiliency needs it. Default:
    true."""

    job_auto_restart: Annotated[bool | None, Api("job-auto-restart.enabled")] = None
    """Lets HyperPod restart jobs after it has replaced a node; resiliency needs it. Default:
    true."""

    patching: Annotated[bool | None, Api("hyperpod-patching.enabled")] = None
    """Lets HyperPod move pods off a node that it updates; resiliency needs it. Default: true."""

    gpu_operator: Annotated[bool | None, Api("gpu-operator.enabled")] = None
    """NVIDIA GPU operator, for multi-instance GPUs, with a device plugin of its own. The packaged
    chart must contain it. Default: false."""

    mlflow: Annotated[bool | None, Api("mlflow.enabled")] = None
    """Service account for MLflow. Default: false."""

    cluster_role_bindings: Annotated[bool | None, Api("cluster-role-and-bindings.enabled")] = None
    """Role for data scientists to list nodes and pods. Default: false."""

    namespaced_role_bindings: Annotated[
        bool | None, Api("namespaced-role-and-bindings.enabled")
    ] = None
    """Role for data scientists to run jobs in the namespace kubeflow. Default: false."""

    team_role_bindings: Annotated[bool | None, Api("team-role-and-bindings.enabled")] = None
    """Role for one team of task governance; needs compute_quota_target_id. Default: false."""

    compute_quota_target_id: Annotated[
        ComputeQuotaTargetId | None, Api("team-role-and-bindings.computeQuotaTarget.targetId")
    ] = None
    """The team of team_role_bindings, by the target of its compute quota; task governance has made
    its namespace, hyperpod-ns- and this id. Default: none."""

    def switches(self) -> dict[str, bool]:
        """Return each component that is switched on or off, and not left to its default."""
        values = {name: getattr(self, name) for name in SWITCHES}
        return {name: value for name, value in values.items() if value is not None}

    def to_install(self, *, instance_types: Iterable[str], chosen: Mapping[str, bool]) -> Self:
        """Return the components with every default filled in.

        Args:
            instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`.
            chosen: What is switched on or off, by the key of the component.

        Raises:
            ValueError: HyperPod has no such instance type.
        """
        switches = with_defaults(chosen, plugins=device_plugins(instance_types))
        return self.model_copy(update=switches)


# The chart's value that each field is marked with: the `condition` of a dependency in Chart.yaml.
# https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
_KEYS: Final[Mapping[str, Keys]] = {
    name: tuple(mark.member.split("."))
    for name, field in ComponentsConfig.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, Api)
}
TARGET_ID: Final[Keys] = _KEYS["compute_quota_target_id"]
SWITCHES: Final[Mapping[str, Keys]] = {
    name: keys for name, keys in _KEYS.items() if keys != TARGET_ID
}
"""The switch of each component in the chart's values, by the component's key."""

_ON_BY_DEFAULT = (
    "training_operator",
    "mpi_operator",
    "health_monitoring_agent",
    "deep_health_check",
    "job_auto_restart",
    "patching",
)


def device_plugins(instance_types: Iterable[str]) -> dict[str, bool]:
    """Return which device plugins the hardware of the instance types needs.

    A type whose hardware is not known gets every plugin: each runs only on the types it knows.

    Args:
        instance_types: HyperPod instance types, such as `ml.p5.48xlarge`.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    known = [instance_facts(instance_type) for instance_type in set(instance_types)]
    accelerators = {facts.accelerator.kind for facts in known if facts and facts.accelerator}
    unknown = None in known
    return {
        "nvidia_device_plugin": unknown or "GPU" in accelerators,
        "neuron_device_plugin": unknown or "Neuron" in accelerators,
        "efa_device_plugin": unknown or any(facts and facts.efa_interfaces for facts in known),
    }


def with_defaults(chosen: Mapping[str, bool], *, plugins: Mapping[str, bool]) -> dict[str, bool]:
    """Return whether each component is on.

    Args:
        chosen: What is switched on or off, by the key of the component.
        plugins: Whether each device plugin is needed.
    """
    defaults = {name: name in _ON_BY_DEFAULT for name in SWITCHES} | dict(plugins)
    if chosen.get("gpu_operator"):
        # It has a device plugin of its own.
        defaults["nvidia_device_plugin"] = False
    return {**defaults, **chosen}
