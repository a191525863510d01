"""What the chart fsx-storage renders with the real helm, and the values it refuses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from scripts.layer_binaries import layer_binaries
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "fsx-storage"
KUBERNETES = "1.34"
VALUES: dict[str, Any] = {
    "fileSystemId": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mountName": "12345678",
}


def helm(
    directory: Path, *arguments: str, values: dict[str, Any]
) -> subprocess.CompletedProcess[str]:
    file = directory / "values.json"
    file.write_text(json.dumps(values))
    return subprocess.run(
        [layer_binaries().helm, *arguments, "--values", file],
        capture_output=True,
        text=True,
        env={"HOME": str(directory)},
        timeout=60,
        check=False,
    )


def render(directory: Path, values: dict[str, Any]) -> dict[str, Any]:
    done = helm(directory, "template", "lustre", str(CHART), values=values)
    assert done.returncode == 0, done.stderr
    return {document["kind"]: document for document in yaml.safe_load_all(done.stdout)}


def test_default_objects(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert render(tmp_path, VALUES) == snapshot


def test_objects_are_valid_for_kubernetes(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(yaml.safe_dump_all(render(tmp_path, VALUES).values()))
    validate = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run(
        [validate, "--strict", "--kubernetes-version", KUBERNETES, manifest],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_values_reach_the_volume_and_the_claim(tmp_path: Path) -> None:
    objects = render(tmp_path, {**VALUES, "capacityGiB": 28800, "namespace": "research"})
    volume, claim = objects["PersistentVolume"], objects["PersistentVolumeClaim"]
    assert volume["spec"]["capacity"] == {"storage": "28800Gi"}
    assert volume["spec"]["claimRef"]["namespace"] == claim["metadata"]["namespace"] == "research"


def test_a_grown_file_system_leaves_the_claim_as_it_is(tmp_path: Path) -> None:
    small, grown = render(tmp_path, VALUES), render(tmp_path, {**VALUES, "capacityGiB": 2400})
    assert small["PersistentVolumeClaim"] == grown["PersistentVolumeClaim"]


def test_lint_finds_nothing(tmp_path: Path) -> None:
    done = helm(tmp_path, "lint", "--strict", str(CHART), values=VALUES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("key", ["fileSystemId", "dnsName", "mountName"])
def test_a_missing_value_is_refused(key: str, tmp_path: Path) -> None:
    values = {name: value for name, value in VALUES.items() if name != key}
    done = helm(tmp_path, "template", "lustre", str(CHART), values=values)
    assert done.returncode != 0
    assert key in done.stderr


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fileSystemId", ""),
        ("fileSystemId", "???"),
        ("fileSystemId", "fsx-0123456789abcdef0"),
        ("dnsName", ""),
        ("dnsName", "???"),
        ("mountName", ""),
        ("mountName", "???"),
        ("mountName", 12345678),
        ("capacityGiB", 0),
        ("capacityGiB", "1200"),
        ("namespace", ""),
        ("namespace", "Upper"),
        ("namespace", "n" * 64),
        ("filesystemId", "fs-0123456789abcdef0"),
    ],
)
def test_a_bad_value_is_refused(key: str, value: object, tmp_path: Path) -> None:
    done = helm(tmp_path, "template", "lustre", str(CHART), values={**VALUES, key: value})
    assert done.returncode != 0
    assert key in done.stderr
