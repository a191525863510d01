"""The Helm releases of the HyperPod dependencies and of the user's health check."""

from kubernetes.client import CoreV1Api

from hyperpod_cdk.node_health.section import NAMESPACE, RELEASE
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.INSTALLATION, needs_kubernetes=True)
def release(deployment: LiveDeployment) -> Checks:
    """The newest revision of the dependencies, and of `node_health`, is `deployed`."""
    helm = deployment.config.helm
    yield from _deployed(deployment, name=helm.release, namespace=helm.namespace)
    if deployment.config.node_health is not None:
        yield from _deployed(deployment, name=RELEASE, namespace=NAMESPACE)


def _deployed(deployment: LiveDeployment, *, name: str, namespace: str) -> Checks:
    # https://helm.sh/docs/topics/advanced/#storage-backends
    listed = CoreV1Api(deployment.kubernetes).list_namespaced_secret(
        namespace, label_selector=f"owner=helm,name={name}"
    )
    revisions = {
        int(secret.metadata.labels["version"]): secret.metadata.labels["status"]
        for secret in listed.items
    }
    # While an upgrade runs or has failed, Helm still calls the revision before it deployed.
    status = revisions[max(revisions)] if revisions else "not there"
    yield checked(
        f"helm status {name} -n {namespace}: deployed",
        problem=None if status == "deployed" else f"{name} is {status}",
        advice=f"Run `helm history {name} -n {namespace}`, then `hyperpod-cdk deploy`, which "
        "repairs a release that has failed or hangs",
    )
