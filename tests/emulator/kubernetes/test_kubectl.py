"""The real kubectl against the rehearsal's Kubernetes API."""

import json
from threading import Timer

import pytest

from tests.support.kubernetes_api import (
    Cluster,
    config_map,
    daemon_set,
    deployment,
)
from tests.support.patience import PATIENCE_SECONDS


def test_a_new_cluster_has_its_namespaces_and_priority_classes(cluster: Cluster) -> None:
    assert cluster.kubectl("get", "ns", "-o", "name").split() == [
        f"namespace/{name}" for name in ("default", "kube-node-lease", "kube-public", "kube-system")
    ]
    assert cluster.kubectl("get", "priorityclass", "-o", "name").split() == [
        "priorityclass.scheduling.k8s.io/system-cluster-critical",
        "priorityclass.scheduling.k8s.io/system-node-critical",
    ]


def test_version_and_discovery_are_of_the_chosen_kubernetes(cluster: Cluster) -> None:
    version = json.loads(cluster.kubectl("version", "-o", "json"))["serverVersion"]
    assert (version["major"], version["minor"]) == ("1", "34")
    listed = cluster.kubectl("api-resources", "-o", "name").split()
    assert {"daemonsets.apps", "secrets", "clusterroles.rbac.authorization.k8s.io"} <= set(listed)
    assert "clustertrustbundles.certificates.k8s.io" not in listed  # not stable in 1.34


def test_explain_reads_the_published_schema(cluster: Cluster) -> None:
    assert "FIELD: updateStrategy" in cluster.kubectl("explain", "ds.spec.updateStrategy")


@pytest.mark.parametrize("server_side", [True, False])
def test_apply_creates_then_changes_then_drops_a_field(
    cluster: Cluster, *, server_side: bool
) -> None:
    name = f"apply-{str(server_side).lower()}"
    apply = ("apply", "-f", "-", f"--server-side={str(server_side).lower()}")
    first = config_map(name, kept="1", dropped="2")
    cluster.kubectl(*apply, stdin=first)
    assert "unchanged" in (out := cluster.kubectl(*apply, stdin=first)) or server_side, out
    cluster.kubectl(*apply, stdin=config_map(name, kept="3"))
    [stored] = [
        item
        for item in cluster.api.objects("v1", "ConfigMap", "default")
        if item["metadata"]["name"] == name
    ]
    assert stored["data"] == {"kept": "3"}


def test_apply_merges_containers_by_name(cluster: Cluster) -> None:
    item = deployment("merged")
    cluster.kubectl("apply", "-f", "-", stdin=item)
    cluster.kubectl("set", "env", "deploy/merged", "MODE=fast")
    item["spec"]["template"]["spec"]["containers"].append(
        {"name": "extra", "image": "registry.invalid/extra:1"}
    )
    cluster.kubectl("apply", "-f", "-", stdin=item)
    containers = json.loads(cluster.kubectl("get", "deploy", "merged", "-o", "json"))["spec"][
        "template"
    ]["spec"]["containers"]
    assert {container["name"]: container.get("env") for container in containers} == {
        "main": [{"name": "MODE", "value": "fast"}],
        "extra": None,
    }


def test_a_field_of_another_manager_is_a_conflict_until_forced(cluster: Cluster) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    cluster.kubectl(*apply, "--field-manager=first", stdin=config_map("owned", key="1"))
    other = (*apply, "--field-manager=second")
    refused = cluster.try_kubectl(*other, stdin=config_map("owned", key="2"))
    assert not refused.ok
    assert 'conflict with "first": .data.key' in refused.error
    cluster.kubectl(*other, "--force-conflicts", stdin=config_map("owned", key="2"))
    assert cluster.kubectl("get", "cm", "owned", "-o", "jsonpath={.data.key}") == "2"


def test_a_dry_run_stores_nothing(cluster: Cluster) -> None:
    out = cluster.kubectl("apply", "-f", "-", "--dry-run=server", stdin=config_map("dry", a="b"))
    assert "created (server dry run)" in out
    assert not cluster.try_kubectl("get", "cm", "dry").ok


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("configmap", ("typed-config", "--from-literal=a=b")),
        ("secret", ("generic", "typed-secret", "--from-literal=a=b")),
        ("serviceaccount", ("typed-account",)),
        ("namespace", ("typed-namespace",)),
    ],
)
def test_create_reads_what_kubectl_sends_as_protobuf(
    cluster: Cluster, kind: str, arguments: tuple[str, ...]
) -> None:
    name = next(part for part in arguments if part.startswith("typed"))
    assert "created" in cluster.kubectl("create", kind, *arguments)
    data = json.loads(cluster.kubectl("get", kind, name, "-o", "json")).get("data")
    assert data == {"configmap": {"a": "b"}, "secret": {"a": "Yg=="}}.get(kind)


@pytest.mark.parametrize(
    ("type_", "patch"),
    [
        ("strategic", '{"spec": {"replicas": 5}}'),
        ("merge", '{"spec": {"replicas": 5}}'),
        ("json", '[{"op": "replace", "path": "/spec/replicas", "value": 5}]'),
    ],
)
def test_every_sort_of_patch(cluster: Cluster, type_: str, patch: str) -> None:
    name = f"patched-{type_}"
    cluster.kubectl("create", "-f", "-", stdin=deployment(name))
    cluster.kubectl("patch", "deploy", name, f"--type={type_}", "-p", patch)
    fields = "{.spec.replicas} {.metadata.generation}"
    assert cluster.kubectl("get", "deploy", name, "-o", f"jsonpath={fields}") == "5 2"


def test_tables_show_what_kubectl_users_expect(cluster: Cluster) -> None:
    cluster.kubectl("apply", "-f", "-", stdin=[daemon_set("shown"), deployment("shown")])
    lines = cluster.kubectl("get", "ds,deploy", "-A").splitlines()
    heading, row = lines[0].split(), next(line for line in lines if "daemonset.apps/shown" in line)
    assert heading[:6] == ["NAMESPACE", "NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE"]
    assert row.split()[:7] == ["default", "daemonset.apps/shown", "0", "0", "0", "0", "0"]
    assert any("deployment.apps/shown" in line and "0/2" in line for line in lines)


def test_lists_are_selected_by_label_and_field(cluster: Cluster) -> None:
    for name, tier in (("one", "front"), ("two", "back")):
        item = config_map(f"selected-{name}")
        item["metadata"]["labels"] = {"tier": tier}
        cluster.kubectl("create", "-f", "-", stdin=item)
    get = ("get", "cm", "-o", "name")
    assert cluster.kubectl(*get, "-l", "tier=back") == "configmap/selected-two\n"
    assert cluster.kubectl(*get, "-l", "tier in (front)") == "configmap/selected-one\n"
    by_name = "metadata.name=selected-two"
    assert cluster.kubectl(*get, "--field-selector", by_name) == "configmap/selected-two\n"


def test_wait_watches_until_nodes_join(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=deployment("waits"))
    wait = ("wait", "deploy/waits", "--for=condition=Available")
    assert "condition not met" in cluster.try_kubectl(*wait, "--timeout=0s").error
    joining = Timer(0.5, cluster.api.put_node, ["wait-node"], {"instance_type": "ml.m5.large"})
    joining.start()
    try:
        assert "condition met" in cluster.kubectl(*wait, f"--timeout={PATIENCE_SECONDS:g}s")
        assert "successfully rolled out" in cluster.kubectl("rollout", "status", "deploy/waits")
        node = cluster.kubectl("get", "node", "wait-node").splitlines()[1].split()
        assert node[:2] == ["wait-node", "Ready"]
    finally:
        joining.join()
        cluster.api.remove_node("wait-node")


def test_delete_waits_until_it_is_gone(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=config_map("short-lived"))
    assert "deleted" in cluster.kubectl(
        "delete", "cm", "short-lived", f"--timeout={PATIENCE_SECONDS:g}s"
    )
    assert "NotFound" in cluster.try_kubectl("get", "cm", "short-lived").error


def test_delete_by_selector(cluster: Cluster) -> None:
    for name in ("a", "b"):
        item = config_map(f"many-{name}")
        item["metadata"]["labels"] = {"many": "yes"}
        cluster.kubectl("create", "-f", "-", stdin=item)
    cluster.kubectl("delete", "cm", "-l", "many=yes")
    assert cluster.kubectl("get", "cm", "-l", "many=yes", "-o", "name") == ""
