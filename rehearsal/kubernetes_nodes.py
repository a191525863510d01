"""HyperPod's nodes as Kubernetes sees them."""

from rehearsal.hyperpod import ClusterView, NodeView
from rehearsal.kubernetes import KubernetesApi


class KubernetesNodes:
    """Registers a Kubernetes Node for each HyperPod node that runs."""

    def __init__(self, kubernetes: KubernetesApi) -> None:
        self._kubernetes = kubernetes

    def node_running(self, cluster: ClusterView, node: NodeView) -> None:
        """A node has joined the cluster."""
        if cluster.eks_cluster_arn is not None:
            self._kubernetes.put_node(
                node.kubernetes_name,
                instance_type=node.instance_type,
                labels=node.labels,
                taints=[
                    {name.lower(): value for name, value in taint.items()} for taint in node.taints
                ],
            )

    def node_removed(self, cluster: ClusterView, node: NodeView) -> None:
        """A node that had joined is gone."""
        if cluster.eks_cluster_arn is not None:
            self._kubernetes.remove_node(node.kubernetes_name)
