"""What kubectl does by default: client-side apply, patches, tables, watches, cascades."""

import copy
import json
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import (
    Cluster,
    config_map,
    daemon_set,
    definition,
    deployment,
)


def applied(cluster: Cluster, item: dict[str, Any]) -> dict[str, Any]:
    """Apply an object as `kubectl apply` does by default, and return it as stored."""
    shown: dict[str, Any] = json.loads(
        cluster.kubectl("apply", "-f", "-", "-o", "json", stdin=item)
    )
    return shown


def test_client_side_apply_removes_a_container(cluster: Cluster) -> None:
    before = deployment("sidecar")
    containers = before["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "sidecar", "image": "registry.invalid/sidecar:1"})
    applied(cluster, before)
    # Added by somebody else, whom an apply leaves alone.
    added = {"name": "injected", "image": "registry.invalid/injected:1"}
    patch = {"spec": {"template": {"spec": {"containers": [added]}}}}
    cluster.kubectl("patch", "deployment", "sidecar", "-p", json.dumps(patch))

    after = applied(cluster, deployment("sidecar"))

    names = [item["name"] for item in after["spec"]["template"]["spec"]["containers"]]
    assert sorted(names) == ["injected", "main"]


def test_client_side_apply_orders_containers(cluster: Cluster) -> None:
    item = deployment("ordered")
    containers = item["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "second", "image": "registry.invalid/second:1"})
    applied(cluster, item)
    turned = copy.deepcopy(item)
    turned["spec"]["template"]["spec"]["containers"].reverse()

    after = applied(cluster, turned)

    names = [entry["name"] for entry in after["spec"]["template"]["spec"]["containers"]]
    assert names == ["second", "main"]


def test_client_side_apply_replaces_the_strategy(cluster: Cluster) -> None:
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}
    applied(cluster, deployment("strategy", strategy=update))

    after = applied(cluster, deployment("strategy", strategy={"type": "Recreate"}))

    assert after["spec"]["strategy"] == {"type": "Recreate"}


def test_client_side_apply_removes_a_finalizer(cluster: Cluster) -> None:
    item = config_map("finalizers", a="1")
    item["metadata"]["finalizers"] = ["example.org/one", "example.org/two"]
    applied(cluster, item)
    item["metadata"]["finalizers"] = ["example.org/two", "example.org/three"]

    after = applied(cluster, item)

    assert after["metadata"]["finalizers"] == ["example.org/two", "example.org/three"]


@pytest.mark.parametrize(
    ("pod", "containers"),
    [
        ({"containers": [{"name": "new", "image": "i"}, {"$patch": "replace"}]}, ["new"]),
        ({"$patch": "replace", "containers": [{"name": "only", "image": "i"}]}, ["only"]),
        (
            {
                "containers": [
                    {"name": "main", "$patch": "delete"},
                    {"name": "gone", "$patch": "delete"},
                    {"name": "other", "image": "i"},
                ]
            },
            ["other"],
        ),
    ],
)
def test_a_patch_with_directives(
    cluster: Cluster, pod: dict[str, Any], containers: list[str]
) -> None:
    applied(cluster, deployment("directives"))
    patch = json.dumps({"spec": {"template": {"spec": pod}}})
    shown = cluster.kubectl("patch", "deployment", "directives", "-p", patch, "-o", "json")
    found = json.loads(shown)["spec"]["template"]["spec"]["containers"]
    cluster.kubectl("delete", "deployment", "directives")
    assert [item["name"] for item in found] == containers


def test_a_patch_of_a_keyed_list_needs_the_key(cluster: Cluster) -> None:
    applied(cluster, deployment("keyless"))
    patch = '{"spec": {"template": {"spec": {"containers": [{"image": "2"}]}}}}'
    refused = cluster.try_kubectl("patch", "deployment", "keyless", "-p", patch)
    assert "does not contain declared merge key: name" in refused.error


def test_a_dry_run_on_the_server_deletes_nothing(cluster: Cluster) -> None:
    cluster.api.create(config_map("kept"))
    assert "dry run" in cluster.kubectl("delete", "configmap", "kept", "--dry-run=server")
    assert cluster.kubectl("get", "configmap", "kept", "-o", "name") == "configmap/kept\n"


def test_a_watch_prints_a_table(cluster: Cluster) -> None:
    cluster.api.create(config_map("watched"))
    lines = cluster.watched("get", "configmap", "watched", "--watch", lines=2)
    assert [line.split()[0] for line in lines] == ["NAME", "watched"]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["service", "kubernetes"], ["kubernetes", "ClusterIP", "172.20.0.1", "443/TCP"]),
        (["node", "node-1"], ["node-1", "Ready"]),
        (["pv", "volume"], ["volume", "1Gi", "Retain", "default/claim"]),
    ],
)
def test_a_table_shows_the_columns_of_its_kind(
    populated: Cluster, arguments: list[str], shown: list[str]
) -> None:
    _, row = populated.kubectl("get", *arguments).splitlines()
    assert [text for text in shown if text not in row] == []


@pytest.fixture(scope="module")
def populated(cluster: Cluster) -> Cluster:
    """The cluster with an object of each kind whose columns are computed."""
    cluster.api.put_node("node-1", instance_type="ml.m5.2xlarge")
    size = {"storage": "1Gi"}
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {"csi": {"driver": "example.org", "volumeHandle": "1"}, "capacity": size, **spec}
    claim = {"resources": {"requests": size}, **spec}
    secret = {"kind": "Secret", "metadata": {"name": "text"}, "stringData": {"key": "value"}}
    items = [
        {"kind": "PersistentVolume", "metadata": {"name": "volume"}, "spec": volume},
        {"kind": "PersistentVolumeClaim", "metadata": {"name": "claim"}, "spec": claim},
        secret,
    ]
    cluster.kubectl("apply", "-f", "-", stdin=[{"apiVersion": "v1", **item} for item in items])
    return cluster


def test_text_of_a_secret_is_stored_encoded(populated: Cluster) -> None:
    shown = populated.kubectl("get", "secret", "text", "-o", "jsonpath={.data.key}")
    assert shown == "dmFsdWU="


def test_a_secret_has_a_largest_size(cluster: Cluster) -> None:
    large = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "large"},
        "stringData": {"key": "x" * (1024 * 1024 + 1)},
    }
    refused = cluster.try_kubectl("create", "-f", "-", stdin=large)
    assert "data: Too long: may not be more than 1048576 bytes" in refused.error


def test_a_tolerated_taint_lets_a_daemon_run(cluster: Cluster) -> None:
    taint = {"key": "example.org/gpu", "value": "yes", "effect": "NoSchedule"}
    cluster.api.put_node("tainted", instance_type="ml.g5.xlarge", taints=[taint])
    node = {"kubernetes.io/hostname": "tainted"}
    tolerations = {
        "none": [],
        "other": [{"key": "example.org/other", "operator": "Exists"}],
        "exists": [{"key": "example.org/gpu", "operator": "Exists"}],
        "equal": [{"key": "example.org/gpu", "value": "yes"}],
        "unequal": [{"key": "example.org/gpu", "value": "no"}],
        "effect": [{"operator": "Exists", "effect": "NoExecute"}],
    }
    for name, tolerated in tolerations.items():
        cluster.api.create(daemon_set(name, tolerations=tolerated, nodeSelector=node))
    found = {
        item["metadata"]["name"]: item["status"]["numberReady"]
        for item in cluster.api.objects("apps/v1", "DaemonSet")
    }
    assert {name for name, ready in found.items() if ready} == {"exists", "equal"}


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ({"storage": False}, "must have exactly one version marked as storage version"),
        ({"schema": None}, "schemas are required"),
    ],
)
def test_a_definition_that_cannot_be_served(
    cluster: Cluster, version: dict[str, Any], message: str
) -> None:
    item = definition("widgets", "Widget")
    item["spec"]["versions"][0] |= version
    refused = cluster.try_kubectl("create", "-f", "-", stdin=item)
    assert message in refused.error


def test_a_stored_version_stays_in_its_definition(cluster: Cluster) -> None:
    item = definition("widgets", "Widget")
    cluster.kubectl("create", "-f", "-", stdin=item)
    item["spec"]["versions"][0]["name"] = "v2"
    refused = cluster.try_kubectl("replace", "-f", "-", stdin=item)
    assert "v1 was previously a storage version" in refused.error
