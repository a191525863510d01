"""config/examples/scale-down.yaml: nodes that are there while something needs them."""

import json
from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.commands import run
from tests.support.patience import eventually
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["scale-down"]
CLUSTER = "scale-down-cluster"
LOOK = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminViewPolicy"


def _specs(stage: Stage, kind: str) -> dict[str, Any]:
    ok, said = stage.tools.run(f"kubectl get {kind} -o json")
    assert ok, said
    return {item["metadata"]["name"]: item["spec"] for item in json.loads(said)["items"]}


@pytest.mark.slow(seconds=2)
def test_karpenter_finds_its_pools_and_groups(stage: Stage) -> None:
    assert _specs(stage, "hyperpodnodeclasses") == {
        "gpu": {"instanceGroups": ["on-demand", "spot"]}
    }
    pool = _specs(stage, "nodepools")["gpu"]
    assert pool["limits"] == {"nvidia.com/gpu": 16}
    assert pool["disruption"]["consolidateAfter"] == "10m"


def _with_8_gpus(document: dict[str, Any]) -> None:
    document["cluster"]["node_pools"][0]["limits"] = {"nvidia.com/gpu": 8}


@pytest.mark.slow(seconds=12)
def test_a_deployment_leaves_what_karpenter_has_added(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sagemaker: Any = stage.environment.clients("sagemaker")

    def on_demand() -> tuple[int, int]:
        groups = sagemaker.describe_cluster(ClusterName=CLUSTER)["InstanceGroups"]
        (group,) = (each for each in groups if each["InstanceGroupName"] == "on-demand")
        return group["CurrentCount"], group["TargetCount"]

    # As the role that a deployment gives Karpenter lets it.
    added = [{"InstanceGroupName": "on-demand", "IncrementTargetCountBy": 2}]
    sagemaker.batch_add_cluster_nodes(ClusterName=CLUSTER, NodesToAdd=added)
    eventually(lambda: on_demand() == (2, 2))
    stage.change(_with_8_gpus)
    assert stage.deploy() is None
    assert _specs(stage, "nodepools")["gpu"]["limits"] == {"nvidia.com/gpu": 8}
    assert on_demand() == (2, 2)

    eks: Any = stage.environment.clients("eks")
    deployer = f"arn:aws:iam::{stage.environment.aws.account}:user/{stage.deployer.user}"
    entry = {"clusterName": "scale-down-eks", "principalArn": deployer}
    eks.create_access_entry(**entry)
    eks.associate_access_policy(**entry, policyArn=LOOK, accessScope={"type": "cluster"})
    places = (stage.environment.aws.environment(), stage.deployer.environment())
    for name, value in [pair for place in places for pair in place.items()]:
        monkeypatch.setenv(name, value)
    capsys.readouterr()
    assert run("idle", "--config", stage.config_path, "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["groups"]
    assert (found["group"], found["idle"], found["running"]) == ("on-demand", 2, 2)
    assert "Karpenter" in found["note"]
