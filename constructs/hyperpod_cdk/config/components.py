"""The `helm.components` section: what of HyperPod's dependencies is installed."""

from typing import Annotated

from hyperpod_cdk.component_values import SWITCHES
from hyperpod_cdk.config.kubernetes_names import DNS_LABEL
from hyperpod_cdk.config.limits import Matching
from hyperpod_cdk.config.section import Section

# The namespace hyperpod-ns-<id> must fit into Kubernetes' 63 characters.
_LONGEST_TARGET_ID = 51


class ComponentsConfig(Section):
    """Components of HyperPod's dependencies: true, false, or left out for the default."""

    training_operator: bool | None = None
    """Kubeflow training operator: PyTorchJob and four more job types. Default: true."""

    mpi_operator: bool | None = None
    """MPI operator: MPIJob, which NCCL tests use. Default: true."""

    nvidia_device_plugin: bool | None = None
    """Offers a node's GPUs to its pods. Default: true where an instance group has GPUs and
    gpu_operator is off."""

    neuron_device_plugin: bool | None = None
    """Offers a node's Neuron cores to its pods. Default: true where an instance group has Trainium
    chips."""

    efa_device_plugin: bool | None = None
    """Offers a node's EFA interfaces to its pods. Default: true where an instance group has EFA."""

    health_monitoring_agent: bool | None = None
    """Watches the hardware of each node; resiliency needs it. Default: true."""

    deep_health_check: bool | None = None
    """What deep health checks run as, and the namespace aws-hyperpod; resiliency needs it. Default:
    true."""

    job_auto_restart: bool | None = None
    """Lets HyperPod restart jobs after it has replaced a node; resiliency needs it. Default:
    true."""

    patching: bool | None = None
    """Lets HyperPod move pods off a node that it updates; resiliency needs it. Default: true."""

    gpu_operator: bool | None = None
    """NVIDIA GPU operator, for multi-instance GPUs, with a device plugin of its own. The packaged
    chart must contain it. Default: false."""

    mlflow: bool | None = None
    """Service account for MLflow. Default: false."""

    cluster_role_bindings: bool | None = None
    """Role for data scientists to list nodes and pods. Default: false."""

    namespaced_role_bindings: bool | None = None
    """Role for data scientists to run jobs in the namespace kubeflow. Default: false."""

    team_role_bindings: bool | None = None
    """Role for one team of task governance; needs compute_quota_target_id. Default: false."""

    compute_quota_target_id: (
        Annotated[
            str,
            Matching(
                pattern=DNS_LABEL,
                longest=_LONGEST_TARGET_ID,
                rule=f"must be 1 to {_LONGEST_TARGET_ID} lower-case letters, digits and inner "
                "hyphens: the team's namespace is hyperpod-ns-<id>",
            ),
        ]
        | None
    ) = None
    """The team of team_role_bindings, by the target of its compute quota; task governance has made
    its namespace, hyperpod-ns- and this id. Default: none."""

    def toggles(self) -> dict[str, bool]:
        """Return what is not left out."""
        values = {name: getattr(self, name) for name in SWITCHES}
        return {name: value for name, value in values.items() if value is not None}
