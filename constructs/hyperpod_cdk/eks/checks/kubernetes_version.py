"""The Kubernetes version is one that the provisioner's kubectl and Helm are for."""

from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.schema.errors import Findings, warning

# Minor versions of the kubectl layer's binaries: kubectl itself, which goes with one version on
# either side, and the Kubernetes client in Helm, which goes with its own and the three before.
KUBECTL_KUBERNETES_MINOR = 34
HELM_KUBERNETES_MINOR = 35
_OLDEST = max(KUBECTL_KUBERNETES_MINOR - 1, HELM_KUBERNETES_MINOR - 3)
_NEWEST = min(KUBECTL_KUBERNETES_MINOR + 1, HELM_KUBERNETES_MINOR)


def kubernetes_version(eks: EksConfig) -> Findings:
    """Find a version outside the skew of kubectl or Helm: how far a client may be from the server.

    https://kubernetes.io/releases/version-skew-policy/#kubectl
    https://helm.sh/docs/topics/version_skew/
    """
    minor = int(eks.version.split(".")[1])
    if not _OLDEST <= minor <= _NEWEST:
        yield warning(
            ("eks", "version"),
            eks.version,
            f"is outside 1.{_OLDEST} to 1.{_NEWEST}, the versions that the provisioner's kubectl "
            "and Helm support; a chart may install and still behave differently",
        )
