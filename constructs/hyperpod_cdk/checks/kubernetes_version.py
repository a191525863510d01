"""The Kubernetes version is one that the provisioner's Helm is built for."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, warning
from hyperpod_cdk.checks.inputs import Deployment

# Minor version of the Kubernetes client in the kubectl layer's Helm 4.1 (`helm version`). Helm
# goes with that version and the three before it. The layer's kubectl is not used.
HELM_KUBERNETES_MINOR = 35
_VERSIONS_BACK = 3


def kubernetes_version(deployment: Deployment) -> Iterator[Finding]:
    """Find a version outside Helm's skew: how far its client may be from the server.

    https://helm.sh/docs/topics/version_skew/
    """
    oldest = HELM_KUBERNETES_MINOR - _VERSIONS_BACK
    minor = int(deployment.kubernetes_version.split(".")[1])
    if not oldest <= minor <= HELM_KUBERNETES_MINOR:
        yield warning(
            ("eks", "version"),
            deployment.kubernetes_version,
            f"is outside 1.{oldest} to 1.{HELM_KUBERNETES_MINOR}, the versions that the "
            "provisioner's Helm supports; a chart may install and still behave differently",
        )
