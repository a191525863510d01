"""Kubernetes Nodes of a cluster that is gone, with the real kubectl."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from emulator.kubernetes import Fault
from hyperpod_shared.eks_token import TokenSigner
from provisioner.framework.retry import Clock
from provisioner.hyperpod.node_objects import NodeObjects
from provisioner.kubernetes.connection import EksConnection
from tests.support.provisioner.helm_cloud import Cloud

EKS = {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}
CLUSTER: dict[str, Any] = {"ClusterName": "ml-cluster", "Orchestrator": {"Eks": EKS}}
LABEL = "sagemaker.amazonaws.com/cluster-name"


@pytest.fixture
def nodes(cloud: Cloud) -> Cloud:
    """Return a cloud with a node of this cluster, one of another, and one of none."""
    for name, labels in {
        "hyperpod-i-1": {LABEL: "ml-cluster"},
        "hyperpod-i-2": {LABEL: "another"},
        "other": {},
    }.items():
        cloud.api.put_node(name, instance_type="ml.m5.2xlarge", labels=labels)
    return cloud


def _delete(cloud: Cloud, cluster: dict[str, Any]) -> list[str]:
    connection = EksConnection(eks=cloud.eks, token_signer=cast("TokenSigner", cloud))
    NodeObjects(connection=connection).delete(cluster, Clock(remaining=lambda: 0.0))
    return cloud.names("v1", "Node")


def test_only_nodes_of_the_cluster_are_deleted(nodes: Cloud) -> None:
    assert _delete(nodes, CLUSTER) == ["hyperpod-i-2", "other"]
    assert _delete(nodes, CLUSTER) == ["hyperpod-i-2", "other"]


@pytest.mark.parametrize("orchestrator", [{}, {"Orchestrator": {"Slurm": {}}}])
def test_a_cluster_without_kubernetes_has_none(nodes: Cloud, orchestrator: dict[str, Any]) -> None:
    nodes.exists = False
    assert len(_delete(nodes, {"ClusterName": "ml-cluster", **orchestrator})) == 3


def _gone(cloud: Cloud) -> None:
    cloud.exists = False


def _deleting(cloud: Cloud) -> None:
    cloud.eks_status = "DELETING"


def _refusing(cloud: Cloud) -> None:
    cloud.api.inject(
        Fault(code=403, reason="Forbidden", message="no", verbs=frozenset({"list"}), times=None)
    )


@pytest.mark.parametrize("trouble", [_gone, _deleting, _refusing])
def test_what_cannot_be_reached_hinders_no_deletion(
    nodes: Cloud, trouble: Callable[[Cloud], None]
) -> None:
    trouble(nodes)
    assert len(_delete(nodes, CLUSTER)) == 3
