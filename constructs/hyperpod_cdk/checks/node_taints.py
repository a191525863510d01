"""Taints of nodes."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error, warning
from hyperpod_cdk.checks.inputs import Deployment, Group
from hyperpod_cdk.checks.kubernetes_names import key_refusal, key_reservation


def node_taints(deployment: Deployment) -> Iterator[Finding]:
    """Find taints that Kubernetes refuses although the API takes them, and reserved ones.

    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
    """
    for group in deployment.groups:
        yield from _findings(group)


def _findings(group: Group) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(group.taints):
        path = group.at("taints", index, "key")
        if refusal := key_refusal(taint.key):
            yield error(path, taint.key, refusal)
        elif reservation := key_reservation(taint.key):
            yield warning(path, taint.key, reservation)
        if (taint.key, taint.effect) in seen:
            message = f"has effect {taint.effect} a second time; a node takes each pair once"
            yield error(path, taint.key, message)
        seen.add((taint.key, taint.effect))
