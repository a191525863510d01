"""What the chart priority-classes renders with the real helm, and the values it refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.chart_rendering import assert_valid_for_kubernetes, helm, template
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "priority-classes"
TRAINING = {"name": "training", "value": 10000}
COMPLETE = {
    "name": "best-effort.v2",
    "value": -(2**31),
    "preemptionPolicy": "Never",
    "description": 'Runs "anywhere": # else',
    "globalDefault": True,
}


def render(*classes: dict[str, Any], home: Path) -> list[dict[str, Any]]:
    rendered = template("classes", CHART, values={"classes": classes}, home=home)
    return list(yaml.safe_load_all(rendered))


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
    objects = render(TRAINING, COMPLETE, home=tmp_path)

    assert_valid_for_kubernetes(objects, folder=tmp_path)


def test_lint_finds_nothing(tmp_path: Path) -> None:
    done = helm("lint", "--strict", CHART, values={"classes": [TRAINING, COMPLETE]}, home=tmp_path)

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
    done = helm("template", "classes", CHART, values=values, home=tmp_path)

    assert done.returncode != 0
    assert message in done.stderr
