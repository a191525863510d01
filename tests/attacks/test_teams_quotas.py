"""A team takes no accelerator past its quota, and no more storage than it is given."""

import json
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import EDITOR, Cluster
from tests.support.isolated_cluster import QUEUED, create, team_object, team_pod

_JOB_POD = {"spec": {**team_pod(gpus=8)["spec"], "restartPolicy": "Never"}}


def _job(name: str, *, labels: dict[str, str] | None = None) -> dict[str, Any]:
    template = {"template": _JOB_POD}
    return team_object("Job", api="batch/v1", name=name, labels=labels, spec=template)


@pytest.mark.parametrize("item", [team_pod(name="stolen", gpus=8), _job("stolen")])
def test_accelerators_past_the_queue(cluster: Cluster, item: dict[str, Any]) -> None:
    done = create(cluster, item)

    assert "accelerators without the label kueue.x-k8s.io/queue-name" in done.error


def test_pod_that_claims_to_be_of_a_queued_job(cluster: Cluster) -> None:
    wanted = team_pod(name="forged", gpus=8)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "queued", "uid": "1"}
    wanted["metadata"]["ownerReferences"] = [{**owner, "controller": True}]

    assert "kueue.x-k8s.io/queue-name" in create(cluster, wanted).error


@pytest.mark.parametrize(
    "item",
    [
        team_pod(name="processors"),
        team_pod(name="queued", gpus=8, labels=QUEUED),
        _job("queued", labels=QUEUED),
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
