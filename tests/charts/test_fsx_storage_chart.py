"""What the chart fsx-storage renders with the real helm, and the values it refuses."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.chart_rendering import (
    assert_sound,
    assert_valid_for_kubernetes,
    objects,
    refusal,
)
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "fsx-storage"
VALUES: dict[str, Any] = {
    "fileSystemId": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mountName": "12345678",
}


def render(directory: Path, values: dict[str, Any]) -> dict[str, Any]:
    rendered = objects(CHART, values=values, home=directory, release="lustre")
    return {document["kind"]: document for document in rendered}


def test_default_objects(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert render(tmp_path, VALUES) == snapshot
    assert_sound(CHART, values=VALUES, home=tmp_path)


def test_values_reach_the_volume_and_the_claim(tmp_path: Path) -> None:
    claim = {"namespace": "research", "name": "data", "volume": "fsx-pv-research-data"}
    values = {**VALUES, "capacityGiB": 28800, "claims": [{**claim, "readOnly": True}]}
    made = render(tmp_path, {**values, "namespaces": ["research"]})
    volume, found = made["PersistentVolume"], made["PersistentVolumeClaim"]
    assert volume["metadata"]["name"] == found["spec"]["volumeName"] == claim["volume"]
    assert volume["spec"]["capacity"] == {"storage": "28800Gi"}
    assert volume["spec"]["claimRef"]["namespace"] == found["metadata"]["namespace"] == "research"
    assert volume["spec"]["accessModes"] == found["spec"]["accessModes"] == ["ReadOnlyMany"]
    assert "ro" in volume["spec"]["mountOptions"]
    kept = made["Namespace"]["metadata"]["annotations"]
    assert kept == {"helm.sh/resource-policy": "keep"}


def test_each_claim_has_a_volume(tmp_path: Path) -> None:
    claims = [
        {"namespace": "default", "name": "one", "volume": "pv-one"},
        {"namespace": "research", "name": "two", "volume": "pv-two"},
    ]
    values = {**VALUES, "claims": claims}
    made = objects(CHART, values=values, home=tmp_path)
    volumes = [each for each in made if each["kind"] == "PersistentVolume"]
    assert_valid_for_kubernetes(made, folder=tmp_path)
    assert [each["spec"]["claimRef"]["name"] for each in volumes] == ["one", "two"]
    assert len({each["spec"]["csi"]["volumeHandle"] for each in volumes}) == 1


def test_open_zfs_is_mounted_by_nfs(tmp_path: Path) -> None:
    values = {key: value for key, value in VALUES.items() if key != "mountName"}
    made = render(tmp_path, {**values, "exportPath": "/fsx", "name": "home", "capacityGiB": 64})
    volume = made["PersistentVolume"]["spec"]
    assert_valid_for_kubernetes(made.values(), folder=tmp_path)
    assert volume["nfs"] == {"server": VALUES["dnsName"], "path": "/fsx"}
    assert "csi" not in volume
    assert made["PersistentVolumeClaim"]["spec"]["storageClassName"] == "home-sc"
    assert "StorageClass" not in made


def test_a_class_may_create_file_systems(tmp_path: Path) -> None:
    parameters = {"subnetId": "subnet-1", "deploymentType": "PERSISTENT_2"}
    values = {**VALUES, "dynamicProvisioning": parameters}
    made = objects(CHART, values=values, home=tmp_path, release="fsx")
    [found] = [each for each in made if each["metadata"]["name"] == "fsx-dynamic"]
    assert_valid_for_kubernetes(made, folder=tmp_path)
    assert (found["parameters"], found["reclaimPolicy"]) == (parameters, "Delete")


def test_a_grown_file_system_leaves_the_claim_as_it_is(tmp_path: Path) -> None:
    small, grown = render(tmp_path, VALUES), render(tmp_path, {**VALUES, "capacityGiB": 2400})
    assert small["PersistentVolumeClaim"] == grown["PersistentVolumeClaim"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fileSystemId", None),
        ("fileSystemId", ""),
        ("fileSystemId", "???"),
        ("fileSystemId", "fsx-0123456789abcdef0"),
        ("dnsName", None),
        ("dnsName", ""),
        ("dnsName", "???"),
        ("mountName", None),
        ("mountName", ""),
        ("mountName", "???"),
        ("mountName", 12345678),
        ("capacityGiB", 0),
        ("capacityGiB", "1200"),
        ("namespaces", ["Upper"]),
        ("claims", [{"namespace": "n" * 64, "name": "a", "volume": "b"}]),
        ("claims", [{"namespace": "a", "name": "b"}]),
        ("claims", [{"namespace": "a", "name": "b", "volume": "c", "readonly": True}]),
        ("filesystemId", "fs-0123456789abcdef0"),
    ],
)
def test_a_bad_value_is_refused(key: str, value: object, tmp_path: Path) -> None:
    assert key in refusal(CHART, values={**VALUES, key: value}, home=tmp_path)


def test_two_kinds_of_file_systems_at_once_are_refused(tmp_path: Path) -> None:
    assert "oneOf" in refusal(CHART, values={**VALUES, "exportPath": "/fsx"}, home=tmp_path)


@pytest.mark.parametrize(
    ("kind", "mounted"),
    [
        ({"mountName": "12345678"}, ("csi", "volumeAttributes", "mountname", "12345678")),
        ({"exportPath": "/fsx"}, ("nfs", "path", "/fsx")),
    ],
)
def test_a_claim_shows_its_directory_alone(
    tmp_path: Path, kind: dict[str, str], mounted: tuple[str, ...]
) -> None:
    claims = [
        {"namespace": "team-a", "name": "one", "volume": "pv-a", "directory": "/teams/a"},
        {"namespace": "team-b", "name": "one", "volume": "pv-b", "directory": "/teams/b"},
    ]
    values = {**VALUES, "claims": claims}
    del values["mountName"]
    values |= kind
    made = objects(CHART, "--namespace", "kube-system", values=values, home=tmp_path)
    assert_valid_for_kubernetes(made, folder=tmp_path)
    *path, root = mounted
    shown = {}
    for each in made:
        if each["kind"] == "PersistentVolume":
            found: Any = each["spec"]
            for key in path:
                found = found[key]
            shown[each["spec"]["claimRef"]["namespace"]] = found
    [job] = [each for each in made if each["kind"] == "Job"]
    [container] = job["spec"]["template"]["spec"]["containers"]

    # The whole is shown where no editor is, to what makes the directories.
    assert shown == {"team-a": f"{root}/teams/a", "team-b": f"{root}/teams/b", "kube-system": root}
    assert container["args"] == ["/files/teams/a", "/files/teams/b"]
    assert job["metadata"]["namespace"] == "kube-system"


def test_a_directory_with_an_owner_is_given_to_it_once(tmp_path: Path) -> None:
    owned = {"namespace": "team-a", "name": "one", "volume": "pv-a", "directory": "/teams/a"}
    other = {"namespace": "team-b", "name": "one", "volume": "pv-b", "directory": "/teams/b"}
    owner = os.getuid() + 4321 if not os.getuid() else os.getuid()
    values = {**VALUES, "claims": [{**owned, "owner": owner}, other]}
    made = objects(CHART, "--namespace", "kube-system", values=values, home=tmp_path)
    [job] = [each for each in made if each["kind"] == "Job"]
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == [f"/files/teams/a={owner}", "/files/teams/b"]

    def run(*directories: str) -> int:
        places = [f"{tmp_path}{each}" for each in directories]
        return subprocess.run([*container["command"], *places], check=False).returncode

    given, left = tmp_path / "teams" / "a", tmp_path / "teams" / "b"
    assert run(f"/teams/a={owner}", "/teams/b") == 0
    assert given.stat().st_uid == owner
    if owner != os.getuid():
        assert (given.stat().st_mode & 0o777, left.stat().st_uid) == (0o700, os.getuid())

    # What a team has opened stays open, and no link gives away what is elsewhere.
    given.chmod(0o770)
    assert run(f"/teams/a={owner}") == 0
    assert given.stat().st_mode & 0o777 == 0o770
    (tmp_path / "link").symlink_to(left)
    assert run(f"/link={owner}") != 0
    assert left.stat().st_uid == os.getuid()
