"""config/examples/scale-down.yaml: nodes that are there while something needs them."""

import json
from typing import Any

import pytest

from rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["scale-down"]


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
