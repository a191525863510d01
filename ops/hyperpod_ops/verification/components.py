"""The components of the HyperPod dependencies, each with all its pods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kubernetes.client import AppsV1Api

from hyperpod_ops.verification.check import Check, Deployment, checked, existing

_INSTALL = (
    "Run `make deploy`, which installs it; `helm history` says whether the release lacks what the "
    "configuration asks for"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Component:
    kind: Literal["ds", "deploy"]
    name: str
    namespace: str
    without: str

    @property
    def command(self) -> str:
        return f"kubectl get {self.kind} {self.name} -n {self.namespace}"


def components(deployment: Deployment) -> Iterator[Check]:
    """Check the component of each switch that is on."""
    apps = AppsV1Api(deployment.kubernetes)
    on = deployment.config.components.switches()
    helm = deployment.config.helm
    for switch, component in _by_switch(release=helm.release, namespace=helm.namespace).items():
        if on[switch]:
            found = existing(
                apps.read_namespaced_daemon_set
                if component.kind == "ds"
                else apps.read_namespaced_deployment,
                component.name,
                component.namespace,
            )
            yield checked(
                component.command,
                problem=_problem(component, found=found),
                advice=component.without
                + (_INSTALL if found is None else _pods(component, labels=found.spec.selector)),
            )


def _problem(component: _Component, *, found: Any | None) -> str | None:  # noqa: ANN401
    if found is None:
        return "is not installed"
    status = found.status
    ready, wanted = (
        (status.number_ready, status.desired_number_scheduled)
        if component.kind == "ds"
        else (status.ready_replicas, found.spec.replicas)
    )
    return None if (ready or 0) >= wanted else f"{ready or 0} of {wanted} pods are ready"


def _pods(component: _Component, *, labels: Any) -> str:  # noqa: ANN401 - a selector
    selector = ",".join(f"{key}={value}" for key, value in (labels.match_labels or {}).items())
    return (
        f"See why its pods do not run: `kubectl describe pods -n {component.namespace} "
        f"-l {selector}`"
    )


def _by_switch(*, release: str, namespace: str) -> Mapping[str, _Component]:
    return {
        "health_monitoring_agent": _Component(
            kind="ds",
            name="health-monitoring-agent",
            namespace="aws-hyperpod",
            without="HyperPod finds no faulty node without it. ",
        ),
        "nvidia_device_plugin": _Component(
            kind="ds",
            name=f"{release}-nvidia-device-plugin",
            namespace="kube-system",
            without="Pods see no GPU without it. ",
        ),
        "neuron_device_plugin": _Component(
            kind="ds",
            name="neuron-device-plugin-daemonset",
            namespace="kube-system",
            without="Pods see no Trainium chip without it. ",
        ),
        "efa_device_plugin": _Component(
            kind="ds",
            name=f"{release}-aws-efa-k8s-device-plugin",
            namespace=namespace,
            without="Pods get no EFA without it, and NCCL falls back to TCP. ",
        ),
        "training_operator": _Component(
            kind="deploy",
            name=f"{release}-training-operators",
            namespace="kubeflow",
            without="No training job starts without it. ",
        ),
        "mpi_operator": _Component(
            kind="deploy",
            name=f"{release}-mpi-operator",
            namespace=namespace,
            without="No MPIJob, such as an NCCL test, starts without it. ",
        ),
    }
