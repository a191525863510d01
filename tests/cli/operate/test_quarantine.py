"""Nodes leave the quarantine by consent."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.operate import clusters
from hyperpod_cli.operate.nodes import health, quarantine
from hyperpod_cli.terminal.errors import REFUSED
from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.testing.kubernetes_api import PRINCIPALS, client_of
from tests.support.clusters import described
from tests.support.clusters import node as made_up
from tests.support.commands import ran
from tests.support.loaded import loaded
from tests.support.node_health import CHART, controller

OTHER = {"key": "team", "value": "a", "effect": "NoSchedule"}
TAINT = {"key": health.QUARANTINE, "value": "failed", "effect": "NoSchedule"}
EKS = {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}}}


@pytest.fixture
def kubernetes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesApi]:
    """Return a cluster with a node in quarantine, and one that is not."""
    with KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as api:
        chosen = SimpleNamespace(session=None, cluster=lambda: described({"a": (2, 2)}, **EKS))
        monkeypatch.setattr(clusters, "chosen_cluster", lambda *_given, **_named: chosen)
        connect = partial(client_of, api, tmp_path)
        monkeypatch.setattr(quarantine, "kubernetes_api", lambda *_given, **_named: connect())
        labels = {"sagemaker.amazonaws.com/cluster-name": "ml-cluster"}
        for name, taints in (("hyperpod-i-1", [OTHER, TAINT]), ("hyperpod-i-2", [OTHER])):
            api.put_node(name, instance_type="ml.p5.48xlarge", labels=labels, taints=taints)
        why = {"metadata": {"annotations": {health.QUARANTINED_BECAUSE: "GPUs: 7 (expected: 8)"}}}
        api.merge("v1", "Node", "hyperpod-i-1", why)
        yield api


def node(api: KubernetesApi, name: str) -> dict[str, Any]:
    (found,) = [each for each in api.objects("v1", "Node") if each["metadata"]["name"] == name]
    return found


@pytest.mark.parametrize("name", ["i-1", "hyperpod-i-1"])
def test_a_node_is_released(kubernetes: KubernetesApi, name: str) -> None:
    said = ran("release", name, "--yes")
    assert (said.code, "hyperpod-i-1: GPUs: 7 (expected: 8)" in said.out) == (0, True)
    found = node(kubernetes, "hyperpod-i-1")
    assert found["spec"]["taints"] == [OTHER]
    assert health.QUARANTINED_BECAUSE not in found["metadata"].get("annotations", {})


def test_a_status_says_why_and_what_to_do(
    kubernetes: KubernetesApi, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    with client_of(kubernetes, tmp_path) as api:
        known = health.health_of_nodes(api, cluster="ml-cluster")
    one, two = (
        health.trouble_of(replace(made_up(1), id=name), known[f"hyperpod-{name}"], recovers=True)
        for name in ("i-1", "i-2")
    )
    assert [one, two] == snapshot


def test_nobody_is_released_unasked(kubernetes: KubernetesApi) -> None:
    said = ran("release", "i-1")
    assert (said.code, "--yes: is missing" in said.err) == (REFUSED, True)
    assert node(kubernetes, "hyperpod-i-1")["spec"]["taints"] == [OTHER, TAINT]


@pytest.mark.usefixtures("kubernetes")
def test_a_node_that_is_not_in_quarantine(snapshot: SnapshotAssertion) -> None:
    said = ran("release", "i-1", "i-2", "--yes")
    assert said.code == REFUSED
    assert said.err == snapshot


def test_the_chart_and_the_command_mean_the_same() -> None:
    controller()
    recurring = loaded("recurring", CHART / "files" / "recurring.py")
    assert (recurring.TAINT, recurring.WHY) == (health.QUARANTINE, health.QUARANTINED_BECAUSE)
