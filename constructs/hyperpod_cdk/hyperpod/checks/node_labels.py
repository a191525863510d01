"""Labels of nodes."""

from hyperpod_cdk.hyperpod.node_settings import key_refusal, key_reservation
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error, warning


def node_labels(cluster: ClusterConfig) -> Findings:
    """Find labels that Kubernetes refuses although the API takes them, and reserved ones.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    """
    for where, group in cluster.instance_groups_with_paths():
        for key in group.labels:
            path = (*where, "labels", key)
            if refusal := key_refusal(key):
                yield error(path, key, refusal)
            elif reservation := key_reservation(key):
                yield warning(path, key, reservation)
