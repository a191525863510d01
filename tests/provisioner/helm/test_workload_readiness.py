"""When a workload counts as ready, and which event speaks of it."""

from typing import Any

import pytest

from provisioner.helm.readiness import Unready, last_event, report, unready, usable_nodes


def _workload(kind: str, spec: dict[str, Any], status: dict[str, int]) -> dict[str, Any]:
    return {
        "kind": kind,
        "metadata": {"name": "agent", "namespace": "aws-hyperpod", "generation": 2},
        "spec": spec,
        "status": {"observedGeneration": 2, **status},
    }


def _daemon_set(**status: int) -> dict[str, Any]:
    numbers = {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}
    return _workload("DaemonSet", {}, {**numbers, **status})


def _deployment(kind: str = "Deployment", **status: int) -> dict[str, Any]:
    numbers = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
    return _workload(kind, {"replicas": 2}, {**numbers, **status})


@pytest.mark.parametrize(
    ("workload", "state"),
    [
        (_daemon_set(), None),
        (_daemon_set(desiredNumberScheduled=0, updatedNumberScheduled=0, numberAvailable=0), None),
        (_daemon_set(numberAvailable=1), "has 1 of 3 pods ready"),
        (_daemon_set(updatedNumberScheduled=2), "has 2 of 3 pods ready"),
        (_daemon_set(observedGeneration=1), "has not been observed by its controller"),
        (_deployment(), None),
        (_deployment(availableReplicas=0), "has 0 of 2 pods ready"),
        (_deployment(updatedReplicas=1), "has 1 of 2 pods ready"),
        (_deployment(replicas=3), "still runs 1 pods of its former version"),
        (_deployment("StatefulSet", availableReplicas=1), "has 1 of 2 pods ready"),
        (_workload("Deployment", {}, {}), "has 0 of 1 pods ready"),
        (_workload("Deployment", {"replicas": 0}, {}), None),
    ],
)
def test_state_of_a_workload(workload: dict[str, Any], state: str | None) -> None:
    assert [found.state for found in unready([workload])] == ([state] if state else [])


def test_pods_that_are_replaced_by_hand_need_not_be_the_latest() -> None:
    by_hand = _daemon_set(updatedNumberScheduled=0)
    by_hand["spec"] = {"updateStrategy": {"type": "OnDelete"}}
    assert unready([by_hand]) == []


def _node(*, ready: str = "True", **spec: Any) -> dict[str, Any]:
    return {"spec": spec, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


@pytest.mark.parametrize(
    ("node", "usable"),
    [
        (_node(), 1),
        (_node(ready="Unknown"), 0),
        (_node(unschedulable=True), 0),
        (_node(taints=[{"key": "sagemaker.amazonaws.com/node-health-status"}]), 0),
        (_node(taints=[{"key": "nvidia.com/gpu"}]), 1),
        ({}, 0),
    ],
)
def test_nodes_that_take_pods(node: dict[str, Any], usable: int) -> None:
    assert usable_nodes([node]) == usable


def _event(name: str, message: str, *, at: str = "", kind: str = "Normal") -> dict[str, Any]:
    return {
        "involvedObject": {"name": name},
        "reason": "Seen",
        "message": message,
        "type": kind,
        "lastTimestamp": at or None,
        "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
    }


AGENT = Unready("DaemonSet", "aws-hyperpod", "health-monitoring-agent", "has 0 of 1 pods ready")


@pytest.mark.parametrize(
    ("name", "concerns"),
    [
        ("health-monitoring-agent", True),
        ("health-monitoring-agent-x2k9p", True),
        ("health-monitoring-agent-7d9f5c6b8-x2k9p", True),
        ("health-monitoring-agent-0", True),
        ("health-monitoring-agent-non-nvidia", False),
        ("health-monitoring-agent-non-nvidia-x2k9p", False),
        ("other-x2k9p", False),
    ],
)
def test_events_of_a_workload_and_its_pods(name: str, concerns: bool) -> None:
    assert bool(last_event([_event(name, "m")], AGENT)) is concerns


def test_last_warning_comes_before_later_events() -> None:
    events = [
        _event("health-monitoring-agent-x2k9p", "old", at="2026-01-02T00:00:00Z", kind="Warning"),
        _event("health-monitoring-agent-x2k9p", "new", at="2026-01-03T00:00:00Z", kind="Warning"),
        _event("health-monitoring-agent-x2k9p", "fine", at="2026-01-04T00:00:00Z"),
    ]
    assert last_event(events, AGENT) == "Seen: new"


def test_report_names_some_and_counts_the_rest() -> None:
    text = report([AGENT] * 5, {"aws-hyperpod": [_event("health-monitoring-agent", "no image")]})
    assert text.count("DaemonSet aws-hyperpod/health-monitoring-agent has 0 of 1 pods ready") == 3
    assert "(last event: Seen: no image)" in text
    assert text.endswith("; 2 more")
    assert report([AGENT], {}).endswith("(no event)")
