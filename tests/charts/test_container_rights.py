"""No container of the charts of this project has a right that is not acknowledged here."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.chart_rendering import objects
from tests.support.configs import REPOSITORY

CHARTS = REPOSITORY / "charts"
GPU = {"accelerator": "nvidia.com/gpu", "accelerators": 8, "efa": 32, "hugepages2Mi": "5120Mi"}
_CHECK = {"nodes": [{"name": "a", "offers": {}}], "resources": {**GPU, "cpu": 9, "memory": "9Gi"}}
_RECURRING = {
    "schedule": "0 3 * * *",
    "image": "x",
    "program": "x",
    "arguments": {"ml.p5.48xlarge": ["x"]},
}
_HEALTH = {
    "script": "#!/bin/sh",
    "instanceTypes": ["ml.p5.48xlarge"],
    "recurring": {**_RECURRING, "maxQuarantined": 1, "timeoutSeconds": 600},
}
_JOB = {"instanceType": "ml.p5.48xlarge", "nodes": 2, "image": "x"}
_AUTOSCALER = {"image": f"x@sha256:{'0' * 64}", "clusterName": "eks", "region": "us-west-2"}
_SHOWN = {"a": {"uid": "a", "title": "A", "panels": []}}
_PROMETHEUS = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1"
_ID = "fs-0123456789abcdef0"
_FILES = {"fileSystemId": _ID, "dnsName": f"{_ID}.example", "mountName": "12345678"}
_CLAIM = {"namespace": "a", "name": "files", "volume": "a", "directory": "/teams/a"}
VALUES: Mapping[str, list[dict[str, Any]]] = {
    "cluster-autoscaler": [_AUTOSCALER],
    "fsx-storage": [{**_FILES, "claims": [{**_CLAIM, "owner": 20000}]}],
    "grafana": [{"region": "us-west-2", "prometheus": _PROMETHEUS, "dashboards": _SHOWN}],
    "node-health": [_HEALTH],
    "training": [
        {**_JOB, "rendezvous": {"backend": "etcd"}},
        {**_JOB, "kind": "HyperPodPyTorchJob"},
    ],
    "validation": [
        {**_CHECK, "check": "node"},
        {**_CHECK, "check": "fabric"},
        {**_CHECK, "check": "storage"},
        {**_CHECK, "check": "rendezvous", "backend": "etcd"},
    ],
}

ROOT = {
    "fsx-storage directories": "The root of a new file system is root's.",
    "training folders": "A new file system belongs to root, who gives the job its folders.",
    "validation check node": "The node's log, in which the kernel's Xid errors are, is root's.",
    "node-health check recurring": "The same log.",
    "validation check storage": "The root of a new file system is root's.",
    "validation launcher": "MPI's operator puts the keys of SSH into root's home.",
    "validation worker": "It runs sshd, which takes root.",
}
"""What runs as root, and why."""

ADDED = {
    "fsx-storage directories": {"CHOWN", "FOWNER"},
    "training folders": {"CHOWN"},
    "validation worker": {
        *{"AUDIT_WRITE", "NET_BIND_SERVICE", "SETGID", "SETUID", "SYS_CHROOT"},
    },
}
"""What is added back: to give folders to the job's user, or directories to teams; and what a login
by SSH takes."""


def _pods(node: object) -> Iterator[Mapping[str, Any]]:
    """Yield the specs of pods in an object, and in the JSON that a ConfigMap has of one."""
    if isinstance(node, str) and node.startswith("{"):
        yield from _pods(json.loads(node))
    elif isinstance(node, list):
        for item in node:
            yield from _pods(item)
    elif isinstance(node, dict):
        if "containers" in node:
            yield node
        for value in node.values():
            yield from _pods(value)


def _containers(home: Path) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each container by its name here, with its pod and all of its security context."""
    for chart, cases in VALUES.items():
        for values in cases:
            for item in objects(CHARTS / chart, values=values, home=home):
                for pod in _pods(item):
                    for container in [*pod.get("initContainers", ()), *pod["containers"]]:
                        name = f"{chart} {container['name']}"
                        if container["name"] == "check":
                            kind = values.get("check") or ""
                            recurring = "recurring" in item["metadata"]["name"]
                            name = f"{name} {kind or ('recurring' if recurring else '')}".strip()
                        context = pod.get("securityContext", {}) | container["securityContext"]
                        yield name, pod, context


@pytest.fixture(scope="module")
def containers(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    return list(_containers(tmp_path_factory.mktemp("home")))


Containers = list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]


def test_every_chart_with_pods_is_looked_at() -> None:
    with_pods = {
        file.relative_to(CHARTS).parts[0]
        for file in CHARTS.glob("*/templates/*")
        if "containers:" in file.read_text("utf-8")
    }
    assert with_pods == VALUES.keys()


def test_no_container_has_a_right_that_is_not_acknowledged(containers: Containers) -> None:
    for name, _, context in containers:
        added = set(context["capabilities"].get("add", ()))
        assert context["capabilities"]["drop"] == ["ALL"], name
        assert added == ADDED.get(name, set()), name
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert "privileged" not in context, name
        assert bool(context.get("runAsNonRoot")) is (name not in ROOT), name
        assert (context["runAsUser"] == 0) is (name in ROOT), name


def test_what_runs_as_root_is_bounded(containers: Containers) -> None:
    seen = set()
    for name, pod, _ in containers:
        if name in ROOT:
            seen.add(name)
            assert pod["automountServiceAccountToken"] is False, name
            assert not pod.get("hostNetwork"), name
            host = {volume["name"] for volume in pod.get("volumes", ()) if "hostPath" in volume}
            for container in [*pod.get("initContainers", ()), *pod["containers"]]:
                for mount in container.get("volumeMounts", ()):
                    assert mount["name"] not in host or mount["readOnly"], name
    assert seen == ROOT.keys()
    assert seen >= ADDED.keys()


def test_a_job_that_asks_for_root_is_not_said_to_be_another(tmp_path: Path) -> None:
    (job,) = (
        item
        for item in objects(CHARTS / "training", values={**_JOB, "user": 0}, home=tmp_path)
        if item["kind"] == "PyTorchJob"
    )
    (pod,) = _pods(yaml.safe_load(yaml.safe_dump(job)))
    context = pod["containers"][0]["securityContext"]
    assert (context["runAsUser"], context["runAsNonRoot"]) == (0, False)
    assert context["capabilities"] == {"drop": ["ALL"]}
