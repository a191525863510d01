"""The components of the HyperPod dependencies, each with all its pods."""

from collections.abc import Iterator, Mapping

from hyperpod_ops.verification.check import Check, Deployment
from hyperpod_ops.verification.workloads import Workload

_INSTALL = (
    "Run `make deploy`, which installs it; `helm history` says whether the release lacks what the "
    "configuration asks for"
)


def components(deployment: Deployment) -> Iterator[Check]:
    """Check the component of each switch that is on."""
    on = deployment.config.components.switches()
    helm = deployment.config.helm
    for switch, component in _by_switch(release=helm.release, namespace=helm.namespace).items():
        if on[switch]:
            yield component.check(deployment, install=_INSTALL)


def _by_switch(*, release: str, namespace: str) -> Mapping[str, Workload]:
    return {
        "health_monitoring_agent": Workload(
            kind="ds",
            name="health-monitoring-agent",
            namespace="aws-hyperpod",
            without="HyperPod finds no faulty node without it. ",
        ),
        "nvidia_device_plugin": Workload(
            kind="ds",
            name=f"{release}-nvidia-device-plugin",
            namespace="kube-system",
            without="Pods see no GPU without it. ",
        ),
        "neuron_device_plugin": Workload(
            kind="ds",
            name="neuron-device-plugin-daemonset",
            namespace="kube-system",
            without="Pods see no Trainium chip without it. ",
        ),
        "efa_device_plugin": Workload(
            kind="ds",
            name=f"{release}-aws-efa-k8s-device-plugin",
            namespace=namespace,
            without="Pods get no EFA without it, and NCCL falls back to TCP. ",
        ),
        "training_operator": Workload(
            kind="deploy",
            name=f"{release}-training-operators",
            namespace="kubeflow",
            without="No training job starts without it. ",
        ),
        "mpi_operator": Workload(
            kind="deploy",
            name=f"{release}-mpi-operator",
            namespace=namespace,
            without="No MPIJob, such as an NCCL test, starts without it. ",
        ),
    }
