"""Which pods are of a job whose work is lost."""

import pytest

from provisioner.deletion_check import jobs_among

POD = {
    "namespace": "team",
    "name": "p",
    "deleted": "",
    "node": "hyperpod-i-1",
    "account": "default",
    "phase": "Running",
    "kind": "",
    "controller": "",
}


@pytest.mark.parametrize(
    ("changes", "job"),
    [
        ({}, "Pod team/p"),
        ({"kind": "Job", "controller": "bert"}, "Job team/bert"),
        ({"kind": "PyTorchJob", "controller": "bert"}, "PyTorchJob team/bert"),
        ({"kind": "RayCluster", "controller": "ray"}, "RayCluster team/ray"),
        ({"phase": "Pending"}, "Pod team/p"),
        ({"phase": "Unknown"}, "Pod team/p"),
        ({"phase": ""}, "Pod team/p"),
        ({"account": "deep-health-check-service-account"}, "Pod team/p"),
        ({"phase": "Succeeded"}, None),
        ({"phase": "Failed"}, None),
        ({"phase": "Pending", "node": ""}, None),
        ({"deleted": "2026-01-01T00:00:00Z"}, None),
        ({"kind": "DaemonSet", "controller": "agent"}, None),
        ({"kind": "ReplicaSet", "controller": "web-1"}, None),
        ({"kind": "StatefulSet", "controller": "db"}, None),
        ({"kind": "ReplicationController", "controller": "old"}, None),
        ({"kind": "Node", "controller": "hyperpod-i-1"}, None),
        (
            {"namespace": "aws-hyperpod", "account": "deep-health-check-service-account"},
            None,
        ),
        ({"namespace": "aws-hyperpod"}, "Pod aws-hyperpod/p"),
    ],
)
def test_only_what_runs_to_an_end_is_a_job(changes: dict[str, str], job: str | None) -> None:
    found = [str(item) for item in jobs_among([tuple((POD | changes).values())])]
    assert found == ([] if job is None else [job])
