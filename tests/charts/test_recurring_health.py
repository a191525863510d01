"""Idle nodes are looked at by a job each, and those that fail are in quarantine until a release."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.hardware import EFA, GPU
from hyperpod_emulator.testing.kubernetes_api import Cluster, daemon_set, running_cluster
from tests.support.chart_rendering import assert_valid_for_kubernetes
from tests.support.configs import REPOSITORY
from tests.support.loaded import loaded
from tests.support.node_health import CHART, SCRIPT, api_of, controller
from tests.support.node_health import GPU as P5

HEALTH = controller().HEALTH
RECURRING = loaded("recurring", CHART / "files" / "recurring.py")
PROGRAM = (REPOSITORY / "charts/validation/files/node_check.py").read_text("utf-8")
NAMESPACE = "health-recurring"
VALUES = {
    "script": SCRIPT,
    "instanceTypes": [P5],
    "recurring": {
        "schedule": "0 3 * * *",
        "image": "registry.invalid/check:1",
        "program": PROGRAM,
        "arguments": {P5: ["--gpus=8", "--efa=32"]},
        "maxQuarantined": 1,
        "timeoutSeconds": 600,
    },
}
FAILED = {"check": "GPUs", "result": "failed", "found": "7", "expected": "8"}
FINE = {"check": "ECC", "result": "ok", "found": "no uncorrectable error", "expected": "none"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Return a cluster with the chart and three idle nodes."""
    with running_cluster(tmp_path) as running:
        given = [f"--set-json={name}={json.dumps(value)}" for name, value in VALUES.items()]
        running.helm("install", "health", str(CHART), "-n", "kube-system", *given)
        for name in ("nvidia-device-plugin", "aws-efa-k8s-device-plugin"):
            running.api.create(daemon_set(name, namespace="kube-system"))
        for name in ("a", "b", "c"):
            put(running, name)
        yield running


def put(cluster: Cluster, name: str, *, health: str = "Schedulable") -> None:
    capacity = {GPU: "8", EFA: "32"}
    cluster.api.put_node(name, instance_type=P5, labels={HEALTH: health}, capacity=capacity)


def user_pod(cluster: Cluster, node: str) -> None:
    limits = {"limits": {GPU: "1"}}
    container = {"name": "main", "image": "registry.invalid/x:1", "resources": limits}
    metadata = {"name": "llama", "namespace": "default"}
    spec = {"nodeName": node, "containers": [container]}
    cluster.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def settings(**changes: Any) -> Any:  # noqa: ANN401 - of a module that no checker finds
    made = {
        "release": "health",
        "namespace": NAMESPACE,
        "arguments": {P5: ["--gpus=8", "--efa=32"]},
        "max_quarantined": 1,
        "timeout_seconds": 600.0,
        "interval_seconds": 5.0,
    }
    return RECURRING.Settings(**{**made, **changes})


class Kubelets:
    """Starts a pod for each job at one look, and lets it end at the next."""

    def __init__(self, cluster: Cluster, told: dict[str, Any]) -> None:
        self.cluster = cluster
        self.told = told
        self.seconds = 0.0
        self.jobs: dict[str, dict[str, Any]] = {}

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        for job in self.cluster.api.objects("batch/v1", "Job", NAMESPACE):
            name = job["metadata"]["name"]
            if name not in self.jobs:
                self.jobs[name] = job
                self._run(name, job)

    def _run(self, name: str, job: dict[str, Any]) -> None:
        template = job["spec"]["template"]
        affinity = template["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        node = term["matchFields"][0]["values"][0]
        labels = {**template["metadata"]["labels"], "batch.kubernetes.io/job-name": name}
        metadata = {"name": f"{name}-x", "namespace": NAMESPACE, "labels": labels}
        spec = {**template["spec"], "nodeName": node}
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        self.cluster.api.create(item)
        told = self.told.get(node, "")
        if told is None:  # it waits for ever
            return
        ended = {"exitCode": 1 if told else 0, "message": told}
        status = {
            "name": "check",
            "image": "x",
            "imageID": "x",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": ended},
        }
        done = {"phase": "Failed" if told else "Succeeded", "containerStatuses": [status]}
        self.cluster.api.set_status("v1", "Pod", f"{name}-x", done, namespace=NAMESPACE)


def looked(
    cluster: Cluster, told: dict[str, Any] | None = None, **changes: Any
) -> tuple[dict[str, str], list[str]]:
    """Run it once; return what is in quarantine now, and which nodes were looked at."""
    (job,) = (
        json.loads(item["data"]["job.json"])
        for item in cluster.api.objects("v1", "ConfigMap", NAMESPACE)
    )
    kubelets = Kubelets(cluster, told or {})
    done: dict[str, str] = RECURRING.check(
        api_of(cluster.api, folder=cluster.home),
        settings(**changes),
        job,
        sleep=kubelets.sleep,
        clock=lambda: kubelets.seconds,
    )
    assert cluster.api.objects("batch/v1", "Job", NAMESPACE) == []
    nodes = [
        each["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]
        for each in kubelets.jobs.values()
    ]
    for each in kubelets.jobs.values():
        (container,) = each["spec"]["template"]["spec"]["containers"]
        assert container["command"][-3:] == ["node", "--gpus=8", "--efa=32"]
        limits = container["resources"]["limits"]
        assert (int(limits[GPU]), int(limits[EFA])) == (8, 32)
    return done, sorted(nodes)


def lines(*found: dict[str, str]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in found)


def tainted(cluster: Cluster) -> dict[str, str]:
    return {
        node["metadata"]["name"]: node["metadata"]["annotations"][RECURRING.WHY]
        for node in cluster.api.objects("v1", "Node")
        if RECURRING.is_quarantined(node)
    }


def test_what_fails_is_in_quarantine_and_says_why(cluster: Cluster) -> None:
    done, nodes = looked(cluster, {"b": lines(FINE, FAILED)})
    assert nodes == ["a", "b", "c"]
    assert done == tainted(cluster) == {"b": "GPUs: 7 (expected: 8)"}
    # There is no room for another one, so none is looked at.
    assert looked(cluster, {"a": lines(FAILED)}) == ({}, [])
    # With room, the one in quarantine is not looked at again.
    assert looked(cluster, max_quarantined=2)[1] == ["a", "c"]


def test_there_are_never_more_than_the_limit(cluster: Cluster) -> None:
    bad = dict.fromkeys("abc", lines(FAILED))
    looked(cluster, bad, max_quarantined=2)
    assert len(tainted(cluster)) == 2


@pytest.mark.parametrize(
    "told",
    [
        # It was never started: another job was quicker, or the image cannot be pulled.
        None,
        # It failed, and says nothing about the node.
        "python3: can't open file\n",
        lines({**FAILED, "result": "skipped"}),
        '[1]\n{"result": 1}\n',
    ],
)
def test_what_says_nothing_about_a_node_marks_nothing(cluster: Cluster, told: str | None) -> None:
    assert looked(cluster, {"a": told, "b": told, "c": told})[0] == {} == tainted(cluster)


def test_only_idle_nodes_that_are_well_are_taken(cluster: Cluster) -> None:
    user_pod(cluster, "a")
    put(cluster, "b", health="UnschedulablePendingReplacement")
    assert looked(cluster)[1] == ["c"]
    cluster.kubectl("cordon", "c")
    assert looked(cluster)[1] == []


def test_an_interruption_leaves_no_job(cluster: Cluster) -> None:
    class Ended(BaseException):
        pass

    def end(_seconds: float) -> None:
        assert len(cluster.api.objects("batch/v1", "Job", NAMESPACE)) == 3
        raise Ended

    (item,) = cluster.api.objects("v1", "ConfigMap", NAMESPACE)
    api = api_of(cluster.api, folder=cluster.home)
    with pytest.raises(Ended):
        RECURRING.check(api, settings(), json.loads(item["data"]["job.json"]), sleep=end)
    assert cluster.api.objects("batch/v1", "Job", NAMESPACE) == []


def test_it_may_do_no_more_than_it_does(cluster: Cluster) -> None:
    (role,) = [
        item["rules"]
        for item in cluster.api.objects("rbac.authorization.k8s.io/v1", "Role", NAMESPACE)
    ]
    assert role == [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "delete"]}]
    (everywhere,) = [
        [(each["resources"], each["verbs"]) for each in item["rules"]]
        for item in cluster.api.objects("rbac.authorization.k8s.io/v1", "ClusterRole")
        if item["metadata"]["name"] == NAMESPACE
    ]
    assert everywhere == [(["nodes"], ["list", "patch"]), (["pods"], ["list"])]
    (item,) = cluster.api.objects("v1", "ConfigMap", NAMESPACE)
    assert item["data"]["node_check.py"] == PROGRAM
    assert item["data"]["controller.py"] == (CHART / "files/controller.py").read_text("utf-8")
    job = {**json.loads(item["data"]["job.json"])}
    job["metadata"]["name"] = "x"
    (cron,) = cluster.api.objects("batch/v1", "CronJob", NAMESPACE)
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"
    assert_valid_for_kubernetes([job], folder=cluster.home)
    spec = job["spec"]
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (600, 600)
