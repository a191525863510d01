"""An aggregated API without nodes, and what it keeps from going, with the real kubectl."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.scenarios.destructions import METRICS
from tests.support.kubernetes_api import Cluster, config_map


@pytest.fixture
def without_nodes(cluster: Cluster) -> Iterator[Cluster]:
    """Return a cluster whose metrics API has no node to run on."""
    cluster.api.create(METRICS)
    yield cluster
    cluster.api.delete("apiregistration.k8s.io/v1", "APIService", METRICS["metadata"]["name"])
    cluster.api.remove_node("hyperpod-i-1")


def _terminating(cluster: Cluster, name: str) -> dict[str, str]:
    """Return the conditions of a namespace that is deleted with what is in it."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    cluster.kubectl("create", "-f", "-", stdin=[namespace, config_map("inside", namespace=name)])
    cluster.kubectl("delete", "namespace", name, "--wait=false")
    found = json.loads(cluster.kubectl("get", "namespace", name, "-o", "json"))
    return {item["type"]: item["status"] for item in found["status"]["conditions"]}


def test_it_does_not_answer_and_kubectl_says_so(without_nodes: Cluster) -> None:
    done = without_nodes.try_kubectl("api-resources")
    assert not done.ok
    assert "metrics.k8s.io/v1beta1" in done.error
    asked = without_nodes.try_kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes")
    assert "currently unable to handle the request" in asked.error


def test_it_answers_when_a_node_takes_its_pods(without_nodes: Cluster) -> None:
    without_nodes.api.put_node("hyperpod-i-1", instance_type="ml.m5.2xlarge")
    assert "metrics.k8s.io" in without_nodes.kubectl("api-versions")
    assert without_nodes.try_kubectl("api-resources").ok


def test_other_kinds_can_be_listed(without_nodes: Cluster) -> None:
    assert without_nodes.try_kubectl("get", "pods,jobs.batch", "--all-namespaces").ok


def test_an_empty_namespace_stays_until_it_answers(without_nodes: Cluster) -> None:
    assert _terminating(without_nodes, "waits") == {
        "NamespaceDeletionDiscoveryFailure": "True",
        "NamespaceDeletionContentFailure": "False",
        "NamespaceContentRemaining": "False",
        "NamespaceFinalizersRemaining": "False",
    }
    without_nodes.api.put_node("hyperpod-i-1", instance_type="ml.m5.2xlarge")
    assert "waits" not in without_nodes.kubectl("get", "namespaces")


def test_an_empty_namespace_goes_when_it_is_finalized(
    without_nodes: Cluster, tmp_path: Path
) -> None:
    _terminating(without_nodes, "final")
    body = json.loads(without_nodes.kubectl("get", "namespace", "final", "-o", "json"))
    body["spec"] = {"finalizers": []}
    file = tmp_path / "namespace.json"
    file.write_text(json.dumps(body))
    path = "--raw=/api/v1/namespaces/final/finalize"
    without_nodes.kubectl("replace", path, "-f", str(file))
    assert "final" not in without_nodes.kubectl("get", "namespaces")


def test_a_pod_goes_with_its_node(cluster: Cluster) -> None:
    cluster.api.put_node("hyperpod-i-2", instance_type="ml.m5.2xlarge")
    spec = {"nodeName": "hyperpod-i-2", "containers": [{"name": "main", "image": "x/y:1"}]}
    metadata = {"name": "bound", "namespace": "default"}
    cluster.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    assert len(cluster.api.objects("v1", "Pod")) == 1
    cluster.api.remove_node("hyperpod-i-2")
    assert cluster.api.objects("v1", "Pod") == []
