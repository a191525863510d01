"""kubectl and helm, and the documented commands that show what is installed."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import Config
from scripts.layer_binaries import LayerBinaries

_COMMAND_SECONDS = 30
_TRAINING_JOBS = ("mxjobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterTools:
    """kubectl and helm with access to the cluster.

    Attributes:
        binaries: The executables.
        kubeconfig: Kubeconfig file of a cluster admin.
        home: Directory for their caches.
    """

    binaries: LayerBinaries
    kubeconfig: Path
    home: Path

    def run(self, command: str) -> tuple[bool, str]:
        """Run a `kubectl …` or `helm …` command; return whether it succeeded, and its output."""
        name, *arguments = command.split()
        executable = {"kubectl": self.binaries.kubectl, "helm": self.binaries.helm}[name]
        done = subprocess.run(  # noqa: S603 - our own binaries and commands
            [str(executable), *arguments],
            env={"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr


def installation_commands(config: Config) -> list[str]:
    """Return a command for each installed component; each succeeds if the component is there."""
    on = config.components.switches()
    commands = _by_component(release=config.helm.release, namespace=config.helm.namespace)
    crds = [
        *(("mpijobs",) if on["mpi_operator"] else ()),
        *(_TRAINING_JOBS if on["training_operator"] else ()),
    ]
    return [
        *(command for component, command in commands.items() if on[component]),
        *_get("crd", [f"{name}.kubeflow.org" for name in crds]),
        *_get("priorityclass", ["system-node-critical"]),
        *_get("priorityclass", [item.name for item in config.helm.priority_classes or ()]),
    ]


def _by_component(*, release: str, namespace: str) -> Mapping[str, str]:
    return {
        "health_monitoring_agent": "kubectl get ds health-monitoring-agent -n aws-hyperpod",
        "nvidia_device_plugin": f"kubectl get ds {release}-nvidia-device-plugin -n kube-system",
        "neuron_device_plugin": "kubectl get ds neuron-device-plugin-daemonset -n kube-system",
        "efa_device_plugin": f"kubectl get ds {release}-aws-efa-k8s-device-plugin -n {namespace}",
        "training_operator": f"kubectl get deploy {release}-training-operators -n kubeflow",
        "mpi_operator": f"kubectl get deploy {release}-mpi-operator -n {namespace}",
    }


def _get(kind: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"kubectl get {kind} {' '.join(names)}"
