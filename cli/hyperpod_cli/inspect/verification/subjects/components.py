"""The components of the HyperPod dependencies, each with all its pods."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.config.daemon_sets import health_monitoring_agents
from hyperpod_cli.inspect.verification.check import Check, LiveDeployment, Phase, subject
from hyperpod_cli.inspect.verification.nodes import Workload

_INSTALL = (
    "Run `make deploy`, which installs it; `helm history` says whether the release lacks what the "
    "configuration asks for"
)


@subject(
    phase=Phase.INSTALLATION,
    row="the DaemonSet or Deployment of each component that is on has all its pods; of the "
    "health monitoring agent, the DaemonSet for GPUs, the one for Trainium, or both",
    needs_kubernetes=True,
)
def components(deployment: LiveDeployment) -> Iterator[Check]:
    """Check the component of each switch that is on."""
    on = deployment.config.components.switches()
    for switch, workload in _by_switch(deployment.config):
        if on[switch]:
            yield workload.check(deployment, install=_INSTALL)


def _by_switch(config: Config) -> Iterator[tuple[str, Workload]]:
    for name in health_monitoring_agents(config):
        yield (
            "health_monitoring_agent",
            Workload(
                kind="ds",
                name=name,
                namespace="aws-hyperpod",
                without="HyperPod finds no faulty node without it. ",
            ),
        )
    yield from _others(release=config.helm.release, namespace=config.helm.namespace).items()


def _others(*, release: str, namespace: str) -> Mapping[str, Workload]:
    return {
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
