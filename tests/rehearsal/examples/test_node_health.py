"""config/examples/node-health.yaml."""

import json
from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.configs import CONFIG_FOLDER
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["node-health"]


def installed(stage: Stage, kind: str, name: str) -> dict[str, Any]:
    ok, said = stage.tools.run(f"kubectl -n kube-system get {kind} {name} -o json")
    assert ok, said
    found: dict[str, Any] = json.loads(said)
    return found


@pytest.mark.slow(seconds=1)
def test_the_script_runs_on_nodes_with_gpus(stage: Stage) -> None:
    script = (CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh").read_text("utf-8")
    pod = installed(stage, "daemonset", "node-health-check")["spec"]["template"]["spec"]
    affinity = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]

    assert installed(stage, "configmap", "node-health-check")["data"] == {"check": script}
    assert affinity["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == ["ml.g5.48xlarge"]
    assert pod["containers"][0]["readinessProbe"]["periodSeconds"] == 60


@pytest.mark.slow(seconds=1)
def test_the_controller_marks_nodes_as_configured(stage: Stage) -> None:
    pod = installed(stage, "deployment", "node-health")["spec"]["template"]["spec"]
    (controller,) = pod["containers"]
    environment = {item["name"]: item["value"] for item in controller["env"]}

    assert (environment["ACTION"], environment["FAILURES"]) == ("reboot", "5")
    assert environment["MAX_AT_ONCE"] == "1"
