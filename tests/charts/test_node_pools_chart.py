"""The chart of node pools, from configurations, against the definitions that Karpenter brings."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import ClusterConfig, ConfigError, NodePoolConfig
from hyperpod_cdk.hyperpod.node_pool_section import pool_values
from hyperpod_emulator.definitions import karpenter
from hyperpod_emulator.kubernetes import ApiError
from hyperpod_emulator.testing.kubernetes_api import running_cluster
from tests.support.chart_rendering import helm, objects
from tests.support.configs import REPOSITORY, configured

CHART = REPOSITORY / "charts" / "node-pools"
TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
LABELS = {"example.com/team": "research", "node.kubernetes.io/lifecycle": "spot"}
COMPLETE = {
    "name": "gpu",
    "instance_groups": ["a", "b"],
    "limits": {"nvidia.com/gpu": 16, "memory": 2**40},
    "consolidate": "underutilized",
    "consolidate_after_minutes": 0,
    "weight": 7,
    "keep_nodes": [{"schedule": "0 7 * * mon-fri", "hours": 12}],
}


def _values(*pools: dict[str, Any]) -> dict[str, Any]:
    group = {"instance_type": "ml.g5.12xlarge", "instance_count": 0, "taints": [TAINT]}
    groups = [
        {**group, "name": "a", "labels": {**LABELS, "example.com/zone": "1"}},
        {**group, "name": "b", "labels": {**LABELS, "example.com/zone": "2"}},
        {**group, "name": "plain", "taints": []},
    ]
    section = {"auto_scaling": "Karpenter", "node_pools": list(pools), "instance_groups": groups}
    cluster: ClusterConfig = configured({"cluster": section}).cluster
    named = {each.name: each for each in cluster.instance_groups}
    return {"pools": [pool_values(pool, named) for pool in cluster.node_pools]}


def _rendered(*pools: dict[str, Any], home: Path) -> list[dict[str, Any]]:
    return objects(CHART, values=_values(*pools), home=home)


def test_a_pool_scales_its_groups_and_has_their_taints_and_common_labels(tmp_path: Path) -> None:
    classes, pool = _rendered(COMPLETE, home=tmp_path)

    assert classes["metadata"]["name"] == pool["metadata"]["name"] == "gpu"
    assert classes["spec"] == {"instanceGroups": ["a", "b"]}
    assert pool["spec"] == {
        "weight": 7,
        "limits": {"nvidia.com/gpu": 16, "memory": 2**40},
        "disruption": {
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "consolidateAfter": "0m",
            "budgets": [
                {"nodes": "10%"},
                {"nodes": "0", "schedule": "0 7 * * mon-fri", "duration": "12h"},
            ],
        },
        "template": {
            "metadata": {"labels": {"example.com/team": "research"}},
            "spec": {
                "nodeClassRef": {
                    "group": "karpenter.sagemaker.amazonaws.com",
                    "kind": "HyperpodNodeClass",
                    "name": "gpu",
                },
                "expireAfter": "Never",
                "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "Exists"}],
                "taints": [TAINT],
            },
        },
    }


def test_by_default_no_pod_is_moved(tmp_path: Path) -> None:
    _, pool = _rendered({"name": "cpu", "instance_groups": ["plain"]}, home=tmp_path)

    assert pool["spec"]["disruption"] == {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": "10m",
        "budgets": [
            {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
            {"nodes": "100%", "reasons": ["Empty"]},
        ],
    }
    assert pool["spec"].keys() == {"disruption", "template"}
    assert pool["spec"]["template"].keys() == {"spec"}


def test_the_api_takes_them_once_karpenter_is_there(tmp_path: Path) -> None:
    made = _rendered(COMPLETE, {"name": "cpu", "instance_groups": ["plain"]}, home=tmp_path)
    with running_cluster(tmp_path) as cluster:
        with pytest.raises(LookupError, match="is not served"):
            cluster.api.create(made[0])
        for definition in karpenter():
            cluster.api.put_definition(definition)
        for item in made:
            cluster.api.create(item)
        (pool, *_) = (item for item in made if item["kind"] == "NodePool")
        wrong = {**pool, "metadata": {"name": "other"}, "spec": {"template": {"spec": {}}}}
        with pytest.raises(ApiError, match="nodeClassRef"):
            cluster.api.create(wrong)


def test_lint_finds_nothing(tmp_path: Path) -> None:
    done = helm("lint", "--strict", CHART, values=_values(COMPLETE), home=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("pools", "message"),
    [
        ([{"name": "a", "instance_groups": []}], "must list 1 to 10 groups"),
        ([{"name": "a", "instance_groups": ["x", "x"]}], "is listed twice"),
        ([{"name": "A", "instance_groups": ["x"]}], "must be 1 to 63 lower-case letters"),
        ([{"name": "a", "instance_groups": ["x"], "limits": {"cpu": 0}}], "must be 1 or more"),
        (
            [{"name": "a", "instance_groups": ["x"]}, {"name": "a", "instance_groups": ["y"]}],
            "is already the name of [0]",
        ),
        (
            [{"name": "a", "instance_groups": ["x"]}, {"name": "b", "instance_groups": ["x"]}],
            "is already in 'a'; a group is in one pool",
        ),
    ],
)
def test_refused(pools: list[dict[str, Any]], message: str) -> None:
    groups = [{"name": "x", "instance_type": "ml.m5.large", "instance_count": 0}]
    section: dict[str, Any] = {"name": "c", "instance_groups": groups, "node_pools": pools}
    with pytest.raises(ConfigError) as refused:
        ClusterConfig(**section)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("hours", "message"),
    [
        ({"schedule": "7 o'clock", "hours": 1}, "must be five fields of cron, in UTC"),
        ({"schedule": "0 7 * * *", "hours": 0}, "must be 1 to 168"),
    ],
)
def test_refused_hours(hours: dict[str, Any], message: str) -> None:
    section: dict[str, Any] = {"name": "a", "instance_groups": ["x"], "keep_nodes": [hours]}
    with pytest.raises(ConfigError) as refused:
        NodePoolConfig(**section)
    assert message in str(refused.value)
