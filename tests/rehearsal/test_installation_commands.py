"""The verify commands of a rehearsal follow what is installed."""

from typing import Any

import pytest

from rehearsal.verification.commands import installation_commands
from tests.conftest import Configure

RELEASE = "hyperpod-dependencies"
# The verify commands of the documents this project starts from.
DOCUMENTED = {
    "kubectl get ds health-monitoring-agent -n aws-hyperpod",
    f"kubectl get ds {RELEASE}-nvidia-device-plugin -n kube-system",
    "kubectl get ds neuron-device-plugin-daemonset -n kube-system",
    f"kubectl get ds {RELEASE}-aws-efa-k8s-device-plugin -n kube-system",
    f"kubectl get deploy {RELEASE}-training-operators -n kubeflow",
    f"kubectl get deploy {RELEASE}-mpi-operator -n kube-system",
    "kubectl get crd mpijobs.kubeflow.org mxjobs.kubeflow.org paddlejobs.kubeflow.org"
    " pytorchjobs.kubeflow.org tfjobs.kubeflow.org xgboostjobs.kubeflow.org",
    "kubectl get priorityclass system-node-critical",
    "kubectl get priorityclass inference training best-effort",
}


def test_the_default_configuration_passes_every_documented_one(configure: Configure) -> None:
    assert set(installation_commands(configure({}))) == DOCUMENTED


@pytest.mark.parametrize(
    ("helm", "gone"),
    [
        ({"components": {"neuron_device_plugin": None}}, "neuron-device-plugin-daemonset"),
        ({"components": {"mpi_operator": False}}, "mpi"),
        ({"components": {"training_operator": False}}, "pytorchjobs"),
        ({"components": {"training_operator": False}}, "training-operators"),
        ({"values": {"mpi-operator": {"enabled": False}}}, "mpijobs"),
        ({"priority_classes": None}, "inference"),
        (
            {"components": {"training_operator": False, "mpi_operator": False}},
            "kubectl get crd",
        ),
    ],
)
def test_what_is_off_is_not_asked_for(
    helm: dict[str, Any], gone: str, configure: Configure
) -> None:
    commands = installation_commands(configure({"helm": helm}))

    assert not [command for command in commands if gone in command]
    assert "kubectl get ds health-monitoring-agent -n aws-hyperpod" in commands
