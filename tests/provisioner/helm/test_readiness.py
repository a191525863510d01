"""Waiting for workloads after an update, with the real helm."""

import json
from typing import Any

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm import readiness as helm_readiness
from tests.support.provisioner.helm_charts import CHART
from tests.support.provisioner.helm_cloud import Cloud, properties

pytestmark = pytest.mark.slow(seconds=4)

WAITING = {"WaitForReadyMinutes": "10"}


def _stuck(version: str) -> dict[str, str]:
    """Return changes with which the operator fits no node."""
    template = CHART["templates/operator.yaml"].format(version=version)
    return {
        "templates/operator.yaml": template.replace(
            "spec: {containers", "spec: {nodeSelector: {gpu: none}, containers"
        )
    }


@pytest.fixture
def ready(cloud: Cloud) -> Cloud:
    """Return a cloud with a node, and a chart 3.0.0 whose operator never runs."""
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    cloud.send("Create", properties(more=WAITING))
    cloud.api.put_node("node-1", instance_type="ml.m5.2xlarge")
    return cloud


def _event(name: str, reason: str, message: str, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason.lower()}", "namespace": "kubeflow"},
        "involvedObject": {"kind": "Pod", "name": name, "namespace": "kubeflow"},
        "reason": reason,
        "message": message,
        "type": "Warning",
        **fields,
    }


def test_before_there_are_nodes_nothing_is_waited_for(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    created = cloud.send("Create", properties(more=WAITING))
    assert created["Data"]["Ready"] == "not waited for"
    updated = cloud.send("Update", properties("3.0.0", more=WAITING))
    assert updated["Data"]["Ready"] == "not waited for: no node takes pods"


def test_ready_workloads_complete_an_update(ready: Cloud) -> None:
    assert ready.send("Update", properties("2.0.0", more=WAITING))["Data"]["Ready"] == "yes"


def test_update_that_runs_nothing_waits_for_nothing(ready: Cloud) -> None:
    assert ready.send("Update", properties(more=WAITING))["Data"]["Ready"] == "not waited for"


def test_waiting_can_be_turned_off(ready: Cloud) -> None:
    off = {"WaitForReadyMinutes": "0"}
    assert ready.send("Update", properties("3.0.0", more=off))["IsComplete"]


def test_workload_that_does_not_become_ready_is_named_and_the_stack_rolls_back(
    ready: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    ready.api.create(_event("operator-7d9f-x2k9p", "FailedScheduling", message))
    ready.requests += 1
    accepted = ready.start("Update", properties("3.0.0", more=WAITING))
    assert ready.poll(accepted) == {"IsComplete": False}
    monkeypatch.setattr(helm_readiness, "SECONDS_A_MINUTE", 0)
    with pytest.raises(ProvisioningError) as failed:
        ready.poll(accepted)
    text = str(failed.value)
    assert "Deployment kubeflow/operator has 0 of 1 pods ready (last event: Failed" in text
    assert message.rstrip(".") in text
    assert len(text) < 1000
    rolled_back = ready.send("Update", properties(more=WAITING))
    assert rolled_back["Data"]["Ready"] == "yes"
    assert ready.operator() == "1.0.0 x1"


def test_way_back_does_not_fail_because_of_what_is_not_ready(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helm_readiness, "SECONDS_A_MINUTE", 0)
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    cloud.send("Create", properties("3.0.0", more=WAITING))
    cloud.api.put_node("node-1", instance_type="ml.m5.2xlarge")
    cloud.send("Update", properties(more=WAITING))
    back = cloud.send("Update", properties("3.0.0", more=WAITING))
    assert back["Data"]["Ready"].startswith("no: Deployment kubeflow/operator has 0 of 1 pods")
    assert json.dumps(back)


def test_nodes_held_back_by_health_checks_are_no_nodes_yet(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    cloud.send("Create", properties(more=WAITING))
    cloud.api.put_node("node-1", instance_type="ml.m5.2xlarge")
    taint = {"key": "sagemaker.amazonaws.com/node-health-status", "effect": "NoSchedule"}
    cloud.api.merge("v1", "Node", "node-1", {"spec": {"taints": [taint]}})
    updated = cloud.send("Update", properties("3.0.0", more=WAITING))
    assert updated["Data"]["Ready"] == "not waited for: no node takes pods"
