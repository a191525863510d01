"""A team takes no accelerator past its quota, and no more storage than it is given."""

import json
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import EDITOR, Cluster
from tests.support.isolated_cluster import QUEUED, create, team_object, team_pod

_NAME = "kueue.x-k8s.io/queue-name"
_REFUSED = f"accelerators without the label {_NAME}"
_JOB_POD = {"spec": {**team_pod(gpus=8)["spec"], "restartPolicy": "Never"}}


def _job(name: str, *, labels: dict[str, str] | None = None) -> dict[str, Any]:
    template = {"template": _JOB_POD}
    return team_object("Job", api="batch/v1", name=name, labels=labels, spec=template)


def _owned(item: dict[str, Any], *, kind: str, api: str = "batch/v1") -> dict[str, Any]:
    owner = {"apiVersion": api, "kind": kind, "name": "queued", "uid": "1", "controller": True}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [owner]}}


@pytest.mark.parametrize(
    "item",
    [
        team_pod(name="stolen", gpus=8),
        team_pod(name="stolen", gpus=8, labels={_NAME: ""}),
        _job("stolen"),
        _job("stolen", labels={_NAME: ""}),  # which Kueue takes for no queue
        _owned(team_pod(name="forged", gpus=8), kind="Job"),
        # Kueue starts at once what belongs to a job that it has admitted.
        _owned(team_pod(name="forged", gpus=8, labels=QUEUED), kind="Job"),
        _owned(_job("forged", labels=QUEUED), kind="PyTorchJob", api="kubeflow.org/v1"),
    ],
)
def test_accelerators_past_the_queue(cluster: Cluster, item: dict[str, Any]) -> None:
    assert _REFUSED in create(cluster, item).error


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {_NAME: None}},
        {"labels": {_NAME: ""}},
        {"ownerReferences": _owned(_job("left"), kind="Job")["metadata"]["ownerReferences"]},
    ],
)
@pytest.mark.parametrize("kind", ["job", "pod"])
def test_queued_job_does_not_leave_the_queue(
    cluster: Cluster, kind: str, metadata: dict[str, Any]
) -> None:
    pod = team_pod(name="left", gpus=8, labels=QUEUED)
    item = _job("left", labels=QUEUED) if kind == "job" else pod
    cluster.kubectl("apply", "-f", "-", stdin=item)
    change = ("patch", kind, "left", "--namespace", "team-a", "--type", "merge", "--patch")

    done = cluster.try_kubectl(*change, json.dumps({"metadata": metadata}), token=EDITOR)

    assert _REFUSED in done.error
    assert cluster.try_kubectl(*change, '{"metadata": {"labels": {"a": "b"}}}', token=EDITOR).ok


@pytest.mark.parametrize(
    "item",
    [
        team_pod(name="processors"),
        team_pod(name="queued", gpus=8, labels=QUEUED),
        _job("queued", labels=QUEUED),
        _owned(_job("nightly", labels=QUEUED), kind="CronJob"),  # kubectl create job --from
    ],
)
def test_queued_jobs_and_pods_without_accelerators_pass(
    cluster: Cluster, item: dict[str, Any]
) -> None:
    assert create(cluster, item).ok


def test_dynamic_storage_is_limited_and_an_editor_does_not_lift_it(cluster: Cluster) -> None:
    quota = ("quota", "hyperpod-isolation", "--namespace", "team-a")
    spec = json.loads(cluster.kubectl("get", *quota, "--output", "json"))["spec"]
    change = ("--type", "merge", "--patch", '{"spec": {"hard": null}}')

    done = cluster.try_kubectl("patch", *quota, *change, token=EDITOR)

    assert spec["hard"] == {"fsx-dynamic.storageclass.storage.k8s.io/requests.storage": "4800Gi"}
    assert "Forbidden" in done.error
