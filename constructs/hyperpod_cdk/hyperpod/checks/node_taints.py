"""Taints of nodes."""

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_settings import key_refusal, key_reservation
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, warning


def node_taints(cluster: ClusterConfig) -> Findings:
    """Find taints that Kubernetes refuses although the API takes them, and reserved ones.

    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
    """
    for where, group in cluster.instance_groups_with_paths():
        yield from _findings(group, where=where)


def _findings(group: InstanceGroupConfig, *, where: KeyPath) -> Findings:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(group.taints):
        path = (*where, "taints", index, "key")
        if refusal := key_refusal(taint.key):
            yield error(path, taint.key, refusal)
        elif reservation := key_reservation(taint.key):
            yield warning(path, taint.key, reservation)
        if (taint.key, taint.effect) in seen:
            message = f"has effect {taint.effect} a second time; a node takes each pair once"
            yield error(path, taint.key, message)
        seen.add((taint.key, taint.effect))
