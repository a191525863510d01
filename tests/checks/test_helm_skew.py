"""The rule on Kubernetes versions goes by the Helm that the provisioner carries."""

import re
import subprocess

from hyperpod_cdk.checks.kubernetes_version import HELM_KUBERNETES_MINOR
from rehearsal.layer_binaries import layer_binaries


def test_helm_of_the_layer_is_built_for_the_minor_version() -> None:
    result = subprocess.run(
        [layer_binaries().helm, "version"], check=True, capture_output=True, text=True
    )

    (minor,) = re.findall(r'KubeClientVersion:"v1\.(\d+)"', result.stdout)
    assert int(minor) == HELM_KUBERNETES_MINOR
