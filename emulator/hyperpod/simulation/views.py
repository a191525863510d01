"""What observers are shown of a cluster and its nodes."""

from __future__ import annotations

from emulator.hyperpod.simulation.hooks import ClusterView, NodeView
from emulator.hyperpod.simulation.state import Cluster, Node

LABEL_PREFIX = "sagemaker.amazonaws.com"


def cluster_view(cluster: Cluster) -> ClusterView:
    """Return what observers see of a cluster."""
    eks = cluster.settings.get("Orchestrator", {}).get("Eks", {})
    return ClusterView(
        name=cluster.name,
        arn=cluster.arn,
        account=cluster.caller.account,
        region=cluster.caller.region,
        eks_cluster_arn=eks.get("ClusterArn"),
        id=cluster.cluster_id,
    )


def private_dns(*, private_ip: str, region: str) -> str:
    """Return the private DNS hostname of an address."""
    return f"ip-{private_ip.replace('.', '-')}.{region}.compute.internal"


def node_view(cluster: Cluster, node: Node) -> NodeView:
    """Return what observers see of a launched node.

    Raises:
        ValueError: The node has not been launched.
    """
    if node.instance_id is None or node.private_ip is None:
        message = f"node {node.logical_id} has no instance yet"
        raise ValueError(message)
    spec = cluster.groups[node.group_name].spec
    kubernetes = spec.get("KubernetesConfig", {})
    return NodeView(
        instance_id=node.instance_id,
        instance_group=node.group_name,
        instance_type=node.instance_type,
        private_ip=node.private_ip,
        private_dns=private_dns(private_ip=node.private_ip, region=cluster.caller.region),
        kubernetes_name=f"hyperpod-{node.instance_id}",
        labels={**kubernetes.get("Labels", {}), **_own_labels(cluster, node)},
        taints=tuple(kubernetes.get("Taints", ())),
        subnet=node.subnet,
        lifecycle=spec.get("LifeCycleConfig", {}),
        has_volume=any(
            "EbsVolumeConfig" in each and not each["EbsVolumeConfig"].get("RootVolume")
            for each in spec.get("InstanceStorageConfigs", ())
        ),
    )


def _own_labels(cluster: Cluster, node: Node) -> dict[str, str]:
    labels = {
        f"{LABEL_PREFIX}/cluster-name": cluster.name,
        f"{LABEL_PREFIX}/instance-group-name": node.group_name,
        f"{LABEL_PREFIX}/compute-type": "hyperpod",
        f"{LABEL_PREFIX}/node-health-status": "Schedulable",
        "node.kubernetes.io/instance-type": node.instance_type,
        "topology.kubernetes.io/region": cluster.caller.region,
    }
    if cluster.groups[node.group_name].spec.get("OnStartDeepHealthChecks"):
        labels[f"{LABEL_PREFIX}/deep-health-check-status"] = "Passed"
    if node.subnet.availability_zone:
        labels["topology.kubernetes.io/zone"] = node.subnet.availability_zone
    return labels
