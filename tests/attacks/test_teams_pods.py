"""A pod of a team reaches neither another team's files nor a node past the scheduler."""

from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster
from tests.support.isolated_cluster import create, team_pod


def _volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "files", **source}]}


_HEALTH = "sagemaker.amazonaws.com/node-health-status"


@pytest.mark.parametrize(
    ("why", "spec"),
    [
        # The home directories of everybody, which any client of the VPC may mount.
        ("volumes", _volume(nfs={"server": "fs-1.fsx.us-west-2.amazonaws.com", "path": "/fsx"})),
        ("volumes", _volume(iscsi={"targetPortal": "10.1.0.9:3260", "iqn": "iqn.a", "lun": 0})),
        ("volumes", _volume(flexVolume={"driver": "example.org/any"})),
        ("volumes", _volume(hostPath={"path": "/var/lib/kubelet"})),
        # Of a driver that may mount any file system, without the volume that an admin made.
        ("volumes", _volume(csi={"driver": "fsx.csi.aws.com"})),
        ("nodeName", {"nodeName": "hyperpod-i-0123456789abcdef0"}),
        ("priorityClassName", {"priorityClassName": "system-node-critical"}),
        ("tolerations", {"tolerations": [{"operator": "Exists"}]}),
        ("tolerations", {"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}),
        ("tolerations", {"tolerations": [{"key": _HEALTH, "operator": "Exists"}]}),
    ],
)
def test_pod_past_claims_scheduler_and_quarantine(
    cluster: Cluster, why: str, spec: dict[str, Any]
) -> None:
    done = create(cluster, team_pod(name="attack", **spec))

    assert not done.ok
    assert f"denied request: {why}" in done.error
    assert "eks.editors[].privileged_namespaces" in done.error


def test_toleration_of_everything_is_not_added_later(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=team_pod(name="later"))
    change = '{"spec": {"tolerations": [{"operator": "Exists"}]}}'

    done = cluster.try_kubectl("patch", "pod", "later", "--namespace", "team-a", "--patch", change)

    assert "tolerations without a key" in done.error


def test_volumes_and_tolerations_of_jobs_pass(cluster: Cluster) -> None:
    used = [
        {"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx-claim"}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "token", "secret": {"secretName": "token"}},
        {"name": "secrets", "csi": {"driver": "secrets-store.csi.k8s.io"}},
        {"name": "cache", "ephemeral": {"volumeClaimTemplate": {"spec": _SCRATCH}}},
    ]
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    wanted = team_pod(
        name="good", volumes=used, tolerations=tolerations, priorityClassName="training"
    )
    cluster.kubectl("create", "-f", "-", stdin=_PRIORITY)

    assert create(cluster, wanted).ok


_SCRATCH = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_PRIORITY = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "training"},
    "value": 10,
}
