"""The real kubectl against the emulator's Kubernetes API, custom and aggregated APIs included."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from hyperpod_emulator.kubernetes.controllers.notices import REASON
from hyperpod_emulator.testing.kubernetes_api import (
    Cluster,
    config_map,
    daemon_set,
    definition,
    deployment,
    gadget,
    running_cluster,
)
from hyperpod_emulator.testing.patience import PATIENCE_SECONDS


def test_version_and_discovery_are_of_the_chosen_kubernetes(cluster: Cluster) -> None:
    version = json.loads(cluster.kubectl("version", "-o", "json"))["serverVersion"]
    assert (version["major"], version["minor"]) == ("1", "34")
    listed = cluster.kubectl("api-resources", "-o", "name").split()
    assert {"daemonsets.apps", "secrets", "clusterroles.rbac.authorization.k8s.io"} <= set(listed)
    assert "clustertrustbundles.certificates.k8s.io" not in listed  # not stable in 1.34


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
    ("arguments", "spec"),
    [
        (
            ("deployment", "typed-deployment", "--image=a:1", "--replicas=0", "--port=80"),
            {
                "replicas": 0,
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]}
                        ]
                    }
                },
            },
        ),
        (
            ("job", "typed-job", "--image=a:1", "--", "echo", "-n"),
            {"template": {"spec": {"containers": [{"command": ["echo", "-n"]}]}}},
        ),
        (
            ("cronjob", "typed-cronjob", "--image=a:1", "--schedule=1 * * * *"),
            {"schedule": "1 * * * *", "jobTemplate": {"spec": {"template": {"spec": {}}}}},
        ),
        (
            ("service", "clusterip", "typed-service", "--tcp=80:http"),
            {"ports": [{"port": 80, "targetPort": "http"}], "type": "ClusterIP"},
        ),
        (("quota", "typed-quota", "--hard=pods=2,cpu=1"), {"hard": {"pods": "2", "cpu": "1"}}),
        (
            ("poddisruptionbudget", "typed-budget", "--selector=a=b", "--min-available=50%"),
            {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}},
        ),
    ],
)
def test_create_reads_what_is_nested(
    cluster: Cluster, arguments: tuple[str, ...], spec: dict[str, Any]
) -> None:
    cluster.kubectl("create", *arguments)
    name = next(part for part in arguments if part.startswith("typed"))
    made = json.loads(cluster.kubectl("get", arguments[0], name, "-o", "json"))["spec"]
    assert has(made, spec)


def test_a_job_says_that_nothing_runs_it(cluster: Cluster) -> None:
    cluster.kubectl("create", "job", "stays", "--image=a:1")
    cluster.kubectl("create", "-f", "-", stdin=deployment("has-a-status"))
    assert REASON in cluster.kubectl("describe", "job", "stays")
    assert REASON not in cluster.kubectl("describe", "deployment", "has-a-status")


def has(there: object, wanted: object) -> bool:
    """Return whether all that is wanted is in a part of an object."""
    if isinstance(wanted, dict) and isinstance(there, dict):
        return all(has(there.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(there, list):
        return len(there) == len(wanted) and all(map(has, there, wanted))
    return there == wanted


@pytest.mark.parametrize("type_", ["strategic", "merge"])
def test_both_sorts_of_patch(cluster: Cluster, type_: str) -> None:
    name, patch = f"patched-{type_}", '{"spec": {"replicas": 5}}'
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


def test_delete_by_selector(cluster: Cluster) -> None:
    for name in ("a", "b"):
        item = config_map(f"many-{name}")
        item["metadata"]["labels"] = {"many": "yes"}
        cluster.kubectl("create", "-f", "-", stdin=item)
    cluster.kubectl("delete", "cm", "-l", "many=yes")
    assert cluster.kubectl("get", "cm", "-l", "many=yes", "-o", "name") == ""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_cluster(tmp_path) as running:
        running.kubectl("apply", "--server-side", "-f", "-", stdin=definition())
        yield running


def test_a_definition_is_established_and_serves_its_resource(cluster: Cluster) -> None:
    cluster.kubectl("wait", "crd/gadgets.example.org", "--for=condition=Established")
    stored = "jsonpath={.status.storedVersions[*]} {.status.acceptedNames.listKind}"
    assert cluster.kubectl("get", "crd", "gadgets.example.org", "-o", stored) == "v1 GadgetList"
    assert "gad" in cluster.kubectl("api-resources", "--api-group=example.org")


def test_custom_objects_show_the_columns_of_their_definition(cluster: Cluster) -> None:
    cluster.kubectl("apply", "-f", "-", stdin=gadget("one", size=4))
    status = '{"status": {"conditions": [{"type": "Created"}, {"type": "Running"}]}}'
    patch = ("patch", "gadget", "one", "--subresource=status", "--type=merge", "-p", status)
    cluster.kubectl(*patch)
    heading, row = cluster.kubectl("get", "gad").splitlines()
    assert heading.split() == ["NAME", "SIZE", "STATE"]
    assert row.split() == ["one", "4", "Running"]


def test_status_changes_through_its_subresource_alone(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin={**gadget("two", size=1), "status": {"a": 1}})
    patch = ("patch", "gadget", "two", "--type=merge", "-p")
    cluster.kubectl(*patch, '{"status": {"b": 1}}')
    cluster.kubectl(*patch, '{"status": {"c": 1}, "spec": {"size": 9}}', "--subresource=status")
    item = json.loads(cluster.kubectl("get", "gadget", "two", "-o", "json"))
    assert (item["status"], item["spec"]["size"]) == ({"c": 1}, 1)
    assert item["metadata"]["generation"] == 1


def test_keyed_lists_of_custom_objects_merge_on_apply(cluster: Cluster) -> None:
    for manager, part in (("a", {"name": "wheel"}), ("b", {"name": "frame", "count": 2})):
        item = gadget("three", size=1, parts=[part])
        apply = ("apply", "--server-side", f"--field-manager={manager}", "-f", "-")
        cluster.kubectl(*apply, stdin=item)
    parts = cluster.kubectl("get", "gadget", "three", "-o", "jsonpath={.spec.parts[*].name}")
    assert parts == "wheel frame"


def test_a_strategic_patch_is_not_for_custom_objects(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("four", size=1))
    refused = cluster.try_kubectl(
        "patch", "gadget", "four", "--type=strategic", "-p", '{"spec": {"size": 2}}'
    )
    assert "application/strategic-merge-patch+json" in refused.error


def test_a_definition_that_goes_takes_its_objects_along(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("five", size=1))
    cluster.kubectl("delete", "crd", "gadgets.example.org")
    assert "could not find the requested resource" in cluster.try_kubectl("get", "gadgets").error
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=definition())
    assert cluster.kubectl("get", "gadgets", "-o", "name") == ""


def test_only_v1_definitions_are_served(cluster: Cluster) -> None:
    old = {**definition("widgets", "Widget"), "apiVersion": "apiextensions.k8s.io/v1beta1"}
    assert "no matches for kind" in cluster.try_kubectl("create", "-f", "-", stdin=old).error


def test_a_second_version_shows_the_same_objects(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("six", size=1))
    both = definition()
    newer = {**both["spec"]["versions"][0], "name": "v2", "storage": False}
    both["spec"]["versions"].append(newer)
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=both)
    item = json.loads(cluster.kubectl("get", "gadgets.v2.example.org", "six", "-o", "json"))
    assert (item["apiVersion"], item["spec"]["size"]) == ("example.org/v2", 1)


METRICS = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics-server", "namespace": "kube-system"},
    },
}


@pytest.fixture
def without_nodes(cluster: Cluster) -> Iterator[Cluster]:
    """Return a cluster whose metrics API has no node to run on."""
    cluster.api.create(METRICS)
    yield cluster
    cluster.api.delete("apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io")
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
