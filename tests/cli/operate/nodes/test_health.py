"""Why a node does not work, by SageMaker's status and HyperPod's labels."""

import pytest

from hyperpod_cli.operate.nodes.health import Health, trouble_of
from tests.support.clusters import node

HEALTHY = Health(status="Schedulable")
ID = f"i-{1:017x}"

CASES = [
    ("Running", "", HEALTHY, ""),
    ("Running", "", Health(), ""),
    ("Running", "", None, ""),
    ("Running", "", Health(status="Schedulable", ready=False), "not Ready in Kubernetes"),
    ("Running", "", Health(status="Unschedulable", deep_health_check="InProgress"), "deep health"),
    ("DeepHealthCheckInProgress", "", None, "deep health checks run"),
    ("Running", "", Health(status="Unschedulable"), "Unschedulable"),
    (
        "Running",
        "",
        Health(status="UnschedulablePendingReplacement", fault="NvidiaGPU: Xid74"),
        "HyperPod replaces it (NvidiaGPU: Xid74)",
    ),
    ("Running", "", Health(status="UnschedulablePendingReboot"), "HyperPod reboots it"),
    ("Failure", "Insufficient capacity.", HEALTHY, "Failure: capacity: Insufficient capacity."),
    ("ShuttingDown", "", HEALTHY, "ShuttingDown"),
]


@pytest.mark.parametrize(("status", "message", "health", "told"), CASES)
def test_trouble_is_told(status: str, message: str, health: Health | None, told: str) -> None:
    found = trouble_of(node(1, status=status, message=message), health, recovers=True)

    assert found.startswith(told) and bool(found) == bool(told)


@pytest.mark.parametrize(("ending", "command"), [("Replacement", "replace"), ("Reboot", "reboot")])
def test_without_node_recovery_somebody_has_to_act(ending: str, command: str) -> None:
    health = Health(status=f"UnschedulablePending{ending}")

    assert trouble_of(node(1), health, recovers=False) == f"run `hyperpod-ops {command} {ID}`"
