"""The rule on Kubernetes versions goes by the kubectl and Helm that the provisioner carries."""

import re
import subprocess

from hyperpod_cdk.eks.checks.kubernetes_version import (
    HELM_KUBERNETES_MINOR,
    KUBECTL_KUBERNETES_MINOR,
)
from hyperpod_cli.deliver.layer_binaries import layer_binaries


def minor(pattern: str, *command: object) -> int:
    arguments = [str(part) for part in command]
    result = subprocess.run(arguments, check=True, capture_output=True, text=True)
    (found,) = re.findall(pattern, result.stdout)
    return int(found)


def test_helm_of_the_layer_is_built_for_the_minor_version() -> None:
    helm = layer_binaries().helm

    assert minor(r'KubeClientVersion:"v1\.(\d+)"', helm, "version") == HELM_KUBERNETES_MINOR


def test_kubectl_of_the_layer_is_of_the_minor_version() -> None:
    kubectl = layer_binaries().kubectl

    told = minor(r"Client Version: v1\.(\d+)", kubectl, "version", "--client")
    assert told == KUBECTL_KUBERNETES_MINOR
