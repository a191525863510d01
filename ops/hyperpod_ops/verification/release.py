"""The Helm release of the HyperPod dependencies."""

from collections.abc import Iterator

from kubernetes.client import CoreV1Api

from hyperpod_ops.verification.check import Check, Deployment, checked


def release(deployment: Deployment) -> Iterator[Check]:
    """Check that the release is deployed, by the secrets in which Helm keeps its revisions."""
    helm = deployment.config.helm
    # https://helm.sh/docs/topics/advanced/#storage-backends
    owned = f"owner=helm,name={helm.release}"
    core = CoreV1Api(deployment.kubernetes)

    def status(selector: str) -> list[str]:
        listed = core.list_namespaced_secret(helm.namespace, label_selector=selector).items
        return sorted({secret.metadata.labels["status"] for secret in listed})

    deployed = bool(status(f"{owned},status=deployed"))
    found = [] if deployed else status(owned)
    yield checked(
        f"helm list -n {helm.namespace} -o json",
        problem=None if deployed else f"{helm.release} is {' and '.join(found) or 'not there'}",
        advice=f"Run `helm history {helm.release} -n {helm.namespace}`, then `make deploy`, which "
        "mends a release that has failed or hangs",
    )
