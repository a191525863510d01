"""The chart of priority classes, installed and upgraded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import PriorityClassConfig
from hyperpod_cdk.helm.priority_class_section import DEFAULT_PRIORITY_CLASSES
from hyperpod_emulator.testing.kubernetes_api import Cluster, Done, running_cluster
from tests.support.chart_rendering import assert_sound, objects, refusal
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
    return objects(CHART, values={"classes": classes}, home=home, release="classes")


def test_everything_given_arrives(tmp_path: Path) -> None:
    found = {item["metadata"]["name"]: item for item in render(TRAINING, COMPLETE, home=tmp_path)}
    labels = {
        "app.kubernetes.io/name": "priority-classes",
        "app.kubernetes.io/instance": "classes",
        "app.kubernetes.io/managed-by": "Helm",
    }

    assert found == {
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


def test_it_is_sound(tmp_path: Path) -> None:
    assert_sound(CHART, values={"classes": [TRAINING, COMPLETE]}, home=tmp_path)


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
    assert message in refusal(CHART, values=values, home=tmp_path)


RELEASE, NAMESPACE = "hyperpod-priority-classes", "kube-system"
A, B = PriorityClassConfig(name="a", value=1), PriorityClassConfig(name="b", value=2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_cluster(tmp_path) as running:
        yield running


def deploy(cluster: Cluster, *classes: PriorityClassConfig) -> Done:
    """Install or upgrade as the provisioner does."""
    listed = [item.to_request() for item in classes]
    values = f"classes={json.dumps(listed)}"
    command = ["upgrade", "--install", RELEASE, str(CHART), "-n", NAMESPACE, "--set-json", values]
    return cluster.try_helm(*command)


def replace(item: PriorityClassConfig, **changes: object) -> PriorityClassConfig:
    return item.model_copy(update=changes)


def in_cluster(cluster: Cluster) -> dict[str, Any]:
    found = json.loads(cluster.kubectl("get", "priorityclass", "-o", "json"))["items"]
    return {
        item["metadata"]["name"]: item
        for item in found
        if not item["metadata"]["name"].startswith("system-")
    }


def test_the_defaults_are_installed_and_removed(cluster: Cluster) -> None:
    assert deploy(cluster, *DEFAULT_PRIORITY_CLASSES).ok

    values = {name: item["value"] for name, item in in_cluster(cluster).items()}
    assert values == {"inference": 100000, "training": 10000, "best-effort": -10}

    cluster.helm("uninstall", RELEASE, "-n", NAMESPACE)
    assert in_cluster(cluster) == {}


def test_what_may_change_changes(cluster: Cluster) -> None:
    assert deploy(cluster, A, B).ok

    changed = replace(B, description="for b", global_default=True)
    done = deploy(cluster, changed, PriorityClassConfig(name="c", value=3))

    assert done.ok, done.error
    found = in_cluster(cluster)
    assert found.keys() == {"b", "c"}
    assert (found["b"]["description"], found["b"]["globalDefault"]) == ("for b", True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param(
            replace(B, value=20),
            "PriorityClass b has value 2 ",
            id="value",
        ),
        pytest.param(
            replace(B, preemption_policy="Never"),
            "PriorityClass b has preemption policy PreemptLowerPriority ",
            id="policy",
        ),
    ],
)
def test_what_may_not_change_is_refused_before_anything_is(
    changed: PriorityClassConfig, message: str, cluster: Cluster
) -> None:
    assert deploy(cluster, A, B).ok
    before = in_cluster(cluster)

    refused = deploy(cluster, replace(A, description="new"), changed)

    assert not refused.ok
    assert message in refused.error
    assert in_cluster(cluster) == before
    # The release is as it was, so that CloudFormation's return to the old values succeeds.
    assert deploy(cluster, A, B).ok


def test_the_way_out_that_the_refusal_names(cluster: Cluster) -> None:
    assert deploy(cluster, A, B).ok
    assert deploy(cluster, A).ok
    assert deploy(cluster, A, replace(B, value=20)).ok

    assert in_cluster(cluster)["b"]["value"] == 20


@pytest.mark.parametrize(("first", "second"), [(A, B), (B, A)], ids=["forward", "back"])
def test_the_global_default_moves_in_two_deployments(
    first: PriorityClassConfig, second: PriorityClassConfig, cluster: Cluster
) -> None:
    assert deploy(cluster, replace(first, global_default=True), second).ok

    refused = deploy(cluster, first, replace(second, global_default=True))

    assert not refused.ok
    assert f"{second.name} is to be the global default" in refused.error
    assert deploy(cluster, first, second).ok
    assert deploy(cluster, first, replace(second, global_default=True)).ok


def test_a_class_of_someone_else_is_not_taken_over(cluster: Cluster) -> None:
    own = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "a"},
        "value": 1,
    }
    cluster.kubectl("apply", "-f", "-", stdin=own)

    refused = deploy(cluster, A)

    assert not refused.ok
    assert "a" in in_cluster(cluster)
    assert "app.kubernetes.io/managed-by" not in in_cluster(cluster)["a"]["metadata"].get(
        "labels", {}
    )
