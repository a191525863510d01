"""What the chart fsx-storage renders with the real helm, and the values it refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.support.chart_rendering import assert_valid_for_kubernetes, helm, template
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "fsx-storage"
VALUES: dict[str, Any] = {
    "fileSystemId": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mountName": "12345678",
}


def render(directory: Path, values: dict[str, Any]) -> dict[str, Any]:
    rendered = template("lustre", CHART, values=values, home=directory)
    return {document["kind"]: document for document in yaml.safe_load_all(rendered)}


def test_default_objects(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert render(tmp_path, VALUES) == snapshot


def test_objects_are_valid_for_kubernetes(tmp_path: Path) -> None:
    assert_valid_for_kubernetes(render(tmp_path, VALUES).values(), folder=tmp_path)


def test_values_reach_the_volume_and_the_claim(tmp_path: Path) -> None:
    objects = render(tmp_path, {**VALUES, "capacityGiB": 28800, "namespace": "research"})
    volume, claim = objects["PersistentVolume"], objects["PersistentVolumeClaim"]
    assert volume["spec"]["capacity"] == {"storage": "28800Gi"}
    assert volume["spec"]["claimRef"]["namespace"] == claim["metadata"]["namespace"] == "research"


def test_a_grown_file_system_leaves_the_claim_as_it_is(tmp_path: Path) -> None:
    small, grown = render(tmp_path, VALUES), render(tmp_path, {**VALUES, "capacityGiB": 2400})
    assert small["PersistentVolumeClaim"] == grown["PersistentVolumeClaim"]


def test_lint_finds_nothing(tmp_path: Path) -> None:
    done = helm("lint", "--strict", CHART, values=VALUES, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("key", ["fileSystemId", "dnsName", "mountName"])
def test_a_missing_value_is_refused(key: str, tmp_path: Path) -> None:
    values = {name: value for name, value in VALUES.items() if name != key}
    done = helm("template", "lustre", CHART, values=values, home=tmp_path)
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
    done = helm("template", "lustre", CHART, values={**VALUES, key: value}, home=tmp_path)
    assert done.returncode != 0
    assert key in done.stderr
