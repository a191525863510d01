"""What the chart priority-classes renders with the real helm, and the values it refuses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.layer_binaries import layer_binaries
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "priority-classes"
KUBERNETES = "1.34"
TRAINING = {"name": "training", "value": 10000}
COMPLETE = {
    "name": "best-effort.v2",
    "value": -(2**31),
    "preemptionPolicy": "Never",
    "description": 'Runs "anywhere": # else',
    "globalDefault": True,
}


def helm(command: str, values: object, home: Path) -> subprocess.CompletedProcess[str]:
    file = home / "values.json"
    file.write_text(json.dumps(values))
    name = [] if command == "lint" else ["classes"]
    strict = ["--strict"] if command == "lint" else []
    return subprocess.run(
        [layer_binaries().helm, command, *strict, *name, CHART, "--values", file],
        capture_output=True,
        text=True,
        env={"HOME": str(home)},
        timeout=60,
        check=False,
    )


def render(*classes: dict[str, Any], home: Path) -> list[dict[str, Any]]:
    done = helm("template", {"classes": classes}, home)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def test_everything_given_arrives(tmp_path: Path) -> None:
    objects = {item["metadata"]["name"]: item for item in render(TRAINING, COMPLETE, home=tmp_path)}
    labels = {
        "app.kubernetes.io/name": "priority-classes",
        "app.kubernetes.io/instance": "classes",
        "app.kubernetes.io/managed-by": "Helm",
    }

    assert objects == {
        "training": {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "training", "labels": labels},
            "value": 10000,
            "preemptionPolicy": "PreemptLowerPriority",
            "globalDefault": False,
            "description": "",
        },
        "best-effort.v2": {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "best-effort.v2", "labels": labels},
            "value": -(2**31),
            "preemptionPolicy": "Never",
            "globalDefault": True,
            "description": 'Runs "anywhere": # else',
        },
    }


def test_the_greatest_value_stays_a_whole_number(tmp_path: Path) -> None:
    (item,) = render(TRAINING | {"value": 1_000_000_000}, home=tmp_path)

    assert item["value"] == 1_000_000_000


def test_objects_are_valid_for_kubernetes(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(yaml.safe_dump_all(render(TRAINING, COMPLETE, home=tmp_path)))
    validate = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run(
        [validate, "--strict", "--kubernetes-version", KUBERNETES, manifest],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint_finds_nothing(tmp_path: Path) -> None:
    done = helm("lint", {"classes": [TRAINING, COMPLETE]}, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "missing property 'classes'"),
        ({"classes": []}, "/classes"),
        ({"classes": [{"name": "a"}]}, "missing property 'value'"),
        ({"classes": [{"value": 1}]}, "missing property 'name'"),
        ({"classes": [TRAINING, TRAINING]}, "classes: training is listed twice"),
        ({"classes": [COMPLETE, COMPLETE | {"name": "b"}]}, "max 1 items required to match"),
        ({"classes": [TRAINING], "clases": []}, "clases"),
        *(
            ({"classes": [TRAINING | {key: value}]}, f"/classes/0/{key}")
            for key, value in (
                ("name", "Training"),
                ("name", ""),
                ("name", "a" * 64),
                ("name", "system-training"),
                ("name", "training-priority"),
                ("value", 1_000_000_001),
                ("value", -(2**31) - 1),
                ("value", 1.5),
                ("value", "1"),
                ("preemptionPolicy", "Always"),
                ("globalDefault", "yes"),
                ("description", 1),
            )
        ),
        ({"classes": [TRAINING | {"priority": 1}]}, "priority"),
    ],
)
def test_a_bad_value_is_refused(values: object, message: str, tmp_path: Path) -> None:
    done = helm("template", values, tmp_path)

    assert done.returncode != 0
    assert message in done.stderr
