"""Labels of nodes."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error, warning
from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.checks.kubernetes_names import key_refusal, key_reservation


def node_labels(deployment: Deployment) -> Iterator[Finding]:
    """Find labels that Kubernetes refuses although the API takes them, and reserved ones.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    """
    for group in deployment.groups:
        for key in group.labels:
            path = group.at("labels", key)
            if refusal := key_refusal(key):
                yield error(path, key, refusal)
            elif reservation := key_reservation(key):
                yield warning(path, key, reservation)
