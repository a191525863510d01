"""A team with a claim of its own directory reaches no other file of the file system."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import EDITOR, Cluster
from tests.support.configs import REPOSITORY
from tests.support.isolated_cluster import create, team_object, team_pod

_VOLUMES = {"team-a": "fsx-pv-team-a", "team-b": "fsx-pv-team-b"}
_VALUES = {
    "fileSystemId": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mountName": "abcdefgh",
    "claims": [
        {
            "namespace": team,
            "name": "fsx-claim",
            "volume": volume,
            "directory": f"/teams/{team}",
        }
        for team, volume in _VOLUMES.items()
    ],
}


@pytest.fixture(scope="module")
def shared(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return the cluster with one file system for two teams."""
    file: Path = tmp_path_factory.mktemp("values") / "values.json"
    file.write_text(json.dumps(_VALUES))
    chart = str(REPOSITORY / "charts" / "fsx-storage")
    place = ("--namespace", "kube-system", "--values", str(file))
    cluster.helm("install", "fsx-storage", chart, *place)
    return cluster


def _volumes(cluster: Cluster) -> dict[str, dict[str, Any]]:
    items = json.loads(cluster.kubectl("get", "pv", "--output", "json"))["items"]
    return {each["spec"]["claimRef"]["namespace"]: each["spec"] for each in items}


def test_what_each_team_mounts_is_apart(shared: Cluster) -> None:
    shown = {
        team: spec["csi"]["volumeAttributes"]["mountname"]
        for team, spec in _volumes(shared).items()
    }

    assert shown == {
        "team-a": "abcdefgh/teams/team-a",
        "team-b": "abcdefgh/teams/team-b",
        "kube-system": "abcdefgh",
    }


def test_editor_makes_and_changes_no_volume(shared: Cluster) -> None:
    stolen = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "stolen"},
        "spec": _volumes(shared)["team-b"],
    }
    whole = '{"spec": {"csi": {"volumeAttributes": {"mountname": "abcdefgh"}}}}'
    change = ("patch", "pv", _VOLUMES["team-a"], "--type", "merge", "--patch", whole)

    assert "Forbidden" in create(shared, stolen).error
    assert "Forbidden" in shared.try_kubectl(*change, token=EDITOR).error


def test_volume_of_another_team_is_reserved(shared: Cluster) -> None:
    size = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    wanted = {**size, "storageClassName": "fsx-sc", "volumeName": _VOLUMES["team-b"]}
    create(shared, team_object("PersistentVolumeClaim", name="stolen", spec=wanted))

    bound = shared.kubectl("get", "pvc", "stolen", "-n", "team-a", "-o", "jsonpath={.status.phase}")
    assert bound != "Bound"


def test_pod_with_the_claim_of_its_team_passes(shared: Cluster) -> None:
    files = [{"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx-claim"}}]

    assert create(shared, team_pod(name="reader", volumes=files)).ok
