"""The components of the HyperPod dependencies, and which of them a cluster needs."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

from hyperpod_cdk.component_rules import (
    COMPUTE_QUOTA_TARGET_ID,
    CONSENT,
    ComponentProblem,
    component_problems,
)
from hyperpod_cdk.instance_types import instance_facts


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodComponents:
    """Which components of the HyperPod dependencies are installed.

    `for_instance_types` gives what a cluster needs; change that with `dataclasses.replace`.

    Attributes:
        training_operator: Kubeflow training operator: PyTorchJob and four more job types.
        mpi_operator: MPI operator: MPIJob.
        nvidia_device_plugin: Offers the GPUs of a node to its pods.
        neuron_device_plugin: Offers the Neuron cores of a node to its pods.
        efa_device_plugin: Offers the EFA interfaces of a node to its pods.
        health_monitoring_agent: Watches the hardware of each node. Resiliency needs it.
        deep_health_check: What deep health checks run as, and the namespace aws-hyperpod.
            Resiliency needs it.
        job_auto_restart: Lets HyperPod restart jobs after it replaced a node. Resiliency needs it.
        patching: Lets HyperPod move pods off a node that it updates. Resiliency needs it.
        gpu_operator: NVIDIA GPU operator, for multi-instance GPUs; brings a device plugin of its
            own. The packaged chart must contain it. Default: off.
        mlflow: Service account for MLflow. Default: off.
        cluster_role_bindings: Role for data scientists to list nodes and pods. Default: off.
        namespaced_role_bindings: Role for data scientists to run jobs in kubeflow. Default: off.
        team_role_bindings: Role for one team of task governance. Default: off.
        compute_quota_target_id: That team; its namespace is `hyperpod-ns-<id>`.
        i_know_this_breaks_resiliency: Consent to switching off what resiliency needs.

    Raises:
        ValueError: They cannot be installed like this; the message says what to do.
    """

    training_operator: bool = True
    mpi_operator: bool = True
    nvidia_device_plugin: bool = True
    neuron_device_plugin: bool = True
    efa_device_plugin: bool = True
    health_monitoring_agent: bool = True
    deep_health_check: bool = True
    job_auto_restart: bool = True
    patching: bool = True
    gpu_operator: bool = False
    mlflow: bool = False
    cluster_role_bindings: bool = False
    namespaced_role_bindings: bool = False
    team_role_bindings: bool = False
    compute_quota_target_id: str | None = None
    i_know_this_breaks_resiliency: bool = False

    def __post_init__(self) -> None:
        problems = component_problems(
            self.switches(),
            consent=self.i_know_this_breaks_resiliency,
            compute_quota_target_id=self.compute_quota_target_id,
        )
        lines = [_line(problem) for problem in problems]
        if lines:
            raise ValueError("; ".join(lines))

    @classmethod
    def for_instance_types(cls, instance_types: Iterable[str]) -> Self:
        """Return the components with the device plugins for the hardware of the instance types.

        A type whose hardware is not known gets every plugin: each runs on the types it knows only.

        Args:
            instance_types: HyperPod instance types, such as `ml.p5.48xlarge`.

        Raises:
            ValueError: HyperPod has no such instance type.
        """
        known = [instance_facts(instance_type) for instance_type in set(instance_types)]
        accelerators = {facts.accelerator.kind for facts in known if facts and facts.accelerator}
        unknown = None in known
        return cls(
            nvidia_device_plugin=unknown or "GPU" in accelerators,
            neuron_device_plugin=unknown or "Neuron" in accelerators,
            efa_device_plugin=unknown or any(facts and facts.efa_interfaces for facts in known),
        )

    def switches(self) -> dict[str, bool]:
        """Return whether each component is on, by attribute."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in (COMPUTE_QUOTA_TARGET_ID, CONSENT)
        }


def _line(problem: ComponentProblem) -> str:
    return f"{problem.name}: {problem.value!r} {problem.message}"
