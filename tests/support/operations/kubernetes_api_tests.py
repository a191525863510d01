"""How commands reach a cluster, its nodes and its Kubernetes API."""

from collections.abc import Mapping

import pytest
from kubernetes.client import CoreV1Api

from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.operate.clusters.chosen import chosen_cluster
from hyperpod_cli.operate.clusters.cluster import nodes_of
from hyperpod_cli.terminal.errors import OpsError
from tests.support.operator import Operator


@pytest.fixture
def signed_in(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Return the environment of somebody who may do all, set for the test."""
    environment = {**operator.stage.environment.aws.environment(), **operator.credentials}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.mark.slow(seconds=1)
def test_each_node_is_found_in_sagemaker_and_in_kubernetes(
    operator: Operator, signed_in: Mapping[str, str]
) -> None:
    assert signed_in
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    found = chosen.found()
    nodes = nodes_of(chosen.sagemaker, found.name)
    with kubernetes_api(chosen.session, eks_cluster=found.eks_cluster_name) as api:
        objects = {item.metadata.name for item in CoreV1Api(api).list_node().items}

    assert [node.group for node in nodes] == sorted(found.groups)
    assert objects == {node.kubernetes_name for node in nodes}
    assert [node.id for node in nodes_of(chosen.sagemaker, found.name, group="worker-group-2")] == [
        node.id for node in nodes if node.group == "worker-group-2"
    ]


@pytest.mark.slow(seconds=1)
def test_who_may_not_is_told_what_to_do(
    operator: Operator, signed_in: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    name = chosen.found().eks_cluster_name
    # The root user, who has no access entry.
    for key, value in operator.stage.environment.aws.environment().items():
        monkeypatch.setenv(key, value)
    assert signed_in
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    with (
        pytest.raises(
            OpsError, match=r"Kubernetes API: 40[13] .*; list your role under eks\.admins"
        ),
        kubernetes_api(chosen.session, eks_cluster=name) as api,
    ):
        CoreV1Api(api).list_node()
    with (
        pytest.raises(OpsError, match="EKS cluster: 'none' is not in us-west-2"),
        kubernetes_api(chosen.session, eks_cluster="none"),
    ):
        pass
    with pytest.raises(
        OpsError, match=r"cluster: 'none' is not in us-west-2, .*: ml-cluster; name"
    ):
        chosen_cluster(operator.stage.config_path, cluster="none", region="us-west-2").found()
