"""The real helm against the rehearsal's Kubernetes API."""

import json
from pathlib import Path
from typing import Any

import yaml

from emulator.kubernetes import Fault
from tests.support.kubernetes_api import (
    NOBODY,
    Cluster,
    config_map,
    deployment,
)
from tests.support.patience import PATIENCE_SECONDS


def chart(folder: Path, *objects: dict[str, Any]) -> str:
    """Write a chart of these objects and return its path."""
    templates = folder / "small" / "templates"
    templates.mkdir(parents=True, exist_ok=True)
    about = {"apiVersion": "v2", "name": "small", "version": "1.2.3", "appVersion": "9"}
    (folder / "small" / "Chart.yaml").write_text(yaml.safe_dump(about))
    (templates / "objects.yaml").write_text(yaml.safe_dump_all(objects))
    return str(folder / "small")


def names(cluster: Cluster, kind: str) -> set[str]:
    """Return the names of the default namespace's objects of a kind."""
    return {item["metadata"]["name"] for item in cluster.api.objects("v1", kind, "default")}


def test_a_release_is_installed_changed_and_uninstalled(cluster: Cluster, tmp_path: Path) -> None:
    both = chart(tmp_path, config_map("stays", a="1", b="2"), config_map("goes"))
    cluster.helm("install", "first", both)
    assert {"stays", "goes"} <= names(cluster, "ConfigMap")
    assert names(cluster, "Secret") == {"sh.helm.release.v1.first.v1"}

    cluster.helm("upgrade", "first", chart(tmp_path, config_map("stays", a="1")))
    assert "goes" not in names(cluster, "ConfigMap")
    assert cluster.kubectl("get", "cm", "stays", "-o", "jsonpath={.data}") == '{"a":"1"}'

    status = json.loads(cluster.helm("status", "first", "-o", "json"))
    assert (status["version"], status["info"]["status"]) == (2, "deployed")
    [listed] = json.loads(cluster.helm("list", "-o", "json"))
    assert (listed["name"], listed["chart"], listed["app_version"], listed["revision"]) == (
        "first",
        "small-1.2.3",
        "9",
        "2",
    )

    cluster.helm("rollback", "first", "1")
    assert "goes" in names(cluster, "ConfigMap")
    cluster.helm("uninstall", "first")
    assert {"stays", "goes"}.isdisjoint(names(cluster, "ConfigMap"))
    assert names(cluster, "Secret") == set()


def test_client_side_apply_works_as_well(cluster: Cluster, tmp_path: Path) -> None:
    flag = "--server-side=false"
    cluster.helm("install", "old", chart(tmp_path, deployment("old-way", replicas=1)), flag)
    cluster.helm("upgrade", "old", chart(tmp_path, deployment("old-way", replicas=3)), flag)
    replicas = cluster.kubectl("get", "deploy", "old-way", "-o", "jsonpath={.spec.replicas}")
    assert replicas == "3"
    cluster.helm("uninstall", "old")


def test_helm_makes_the_namespace_when_asked(cluster: Cluster, tmp_path: Path) -> None:
    inside = config_map("inside", namespace="made")
    cluster.helm("install", "maker", chart(tmp_path, inside), "-n", "made", "--create-namespace")
    assert "maker" in cluster.helm("list", "-n", "made", "-q")
    cluster.kubectl("delete", "ns", "made")


def test_a_missing_namespace_fails_the_release(cluster: Cluster, tmp_path: Path) -> None:
    lost = chart(tmp_path, config_map("lost", namespace="nowhere"))
    refused = cluster.try_helm("install", "lost", lost)
    assert 'namespaces "nowhere" not found' in refused.error
    assert json.loads(cluster.helm("status", "lost", "-o", "json"))["info"]["status"] == "failed"
    cluster.helm("uninstall", "lost")


def test_an_unknown_field_fails_the_release(cluster: Cluster, tmp_path: Path) -> None:
    wrong = deployment("wrong", replicaz=3)
    refused = cluster.try_helm("install", "wrong", chart(tmp_path, wrong))
    assert "replicaz" in refused.error
    cluster.helm("uninstall", "wrong")


def test_a_wrong_value_fails_the_release(cluster: Cluster, tmp_path: Path) -> None:
    wrong = deployment("wrong-value", replicas="many")
    refused = cluster.try_helm("install", "wrong-value", chart(tmp_path, wrong))
    assert 'spec.replicas: Invalid value: "many": must be of type integer' in refused.error
    cluster.helm("uninstall", "wrong-value")


def test_an_object_that_exists_is_not_taken_over(cluster: Cluster, tmp_path: Path) -> None:
    cluster.kubectl("create", "-f", "-", stdin=config_map("foreign"))
    foreign = chart(tmp_path, config_map("foreign"))
    refused = cluster.try_helm("install", "taker", foreign)
    assert "cannot be imported into the current release" in refused.error
    cluster.helm("install", "taker", foreign, "--take-ownership")
    cluster.helm("uninstall", "taker")


def test_wait_returns_when_the_workload_is_ready(cluster: Cluster, tmp_path: Path) -> None:
    workload = chart(tmp_path, deployment("ready", replicas=1))
    flags = ("--wait=watcher", "--timeout")
    without = cluster.try_helm("install", "ready", workload, *flags, "3s")
    assert "ready" in without.error
    assert not without.ok
    cluster.api.put_node("ready-node", instance_type="ml.m5.xlarge")
    try:
        cluster.helm("upgrade", "--install", "ready", workload, *flags, f"{PATIENCE_SECONDS:g}s")
    finally:
        cluster.api.remove_node("ready-node")
    cluster.helm("uninstall", "ready")


def test_a_refused_write_leaves_a_failed_release_that_a_retry_repairs(
    cluster: Cluster, tmp_path: Path
) -> None:
    fault = Fault(code=507, reason="InsufficientStorage", message="no room", kind="ConfigMap")
    cluster.api.inject(fault)
    small = chart(tmp_path, config_map("unlucky"))
    assert "no room" in cluster.try_helm("install", "unlucky", small).error
    cluster.helm("upgrade", "--install", "unlucky", small)
    assert "unlucky" in names(cluster, "ConfigMap")
    cluster.helm("uninstall", "unlucky")


def test_a_caller_without_rights_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    refused = cluster.try_helm("install", "denied", chart(tmp_path), token=NOBODY)
    assert 'User "nobody" cannot create resource "secrets" in API group ""' in refused.error
