"""The components of the HyperPod dependencies, each with all its pods."""

from collections.abc import Iterator
from typing import Literal

from hyperpod_cdk import Config
from hyperpod_cdk.config.daemon_sets import health_monitoring_agents
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, subject
from hyperpod_cli.inspect.verification.nodes import Workload

_INSTALL = (
    "Run `hyperpod-cdk deploy`, which installs it; `helm history` says whether the release lacks "
    "what the "
    "configuration asks for"
)

_WITHOUT = {
    "health_monitoring_agent": "HyperPod finds no faulty node without it. ",
    "nvidia_device_plugin": "Pods see no GPU without it. ",
    "neuron_device_plugin": "Pods see no Trainium chip without it. ",
    "efa_device_plugin": "Pods get no EFA without it, and NCCL falls back to TCP. ",
    "training_operator": "No training job starts without it. ",
    "mpi_operator": "No MPIJob, such as an NCCL test, starts without it. ",
}


@subject(phase=Phase.INSTALLATION, needs_kubernetes=True)
def components(deployment: LiveDeployment) -> Checks:
    """The DaemonSet or Deployment of each component that is on has all its pods."""
    on = deployment.config.components.switches()
    for switch, workload in _by_switch(deployment.config):
        if on[switch]:
            yield workload.check(deployment, install=_INSTALL)


def _by_switch(config: Config) -> Iterator[tuple[str, Workload]]:
    release, of_release = config.helm.release, config.helm.namespace
    rows: list[tuple[str, Literal["ds", "deploy"], str, str]] = [
        ("health_monitoring_agent", "ds", "aws-hyperpod", name)
        for name in health_monitoring_agents(config)
    ]
    rows += [
        ("nvidia_device_plugin", "ds", "kube-system", f"{release}-nvidia-device-plugin"),
        ("neuron_device_plugin", "ds", "kube-system", "neuron-device-plugin-daemonset"),
        ("efa_device_plugin", "ds", of_release, f"{release}-aws-efa-k8s-device-plugin"),
        ("training_operator", "deploy", "kubeflow", f"{release}-training-operators"),
        ("mpi_operator", "deploy", of_release, f"{release}-mpi-operator"),
    ]
    for switch, kind, namespace, name in rows:
        without = _WITHOUT[switch]
        yield switch, Workload(kind=kind, name=name, namespace=namespace, without=without)
