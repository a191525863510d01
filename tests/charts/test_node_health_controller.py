"""Which nodes the controller of the chart node-health marks, on a Kubernetes API and by itself."""

import json
import threading
from collections.abc import Iterator
from http.client import IncompleteRead, RemoteDisconnected
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

from hyperpod_emulator.kubernetes import unreachable
from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster
from tests.support.node_health import CHART, GPU, SCRIPT, api_of, controller
from tests.support.patience import PATIENCE_SECONDS

CONTROLLER = controller()
HEALTH = CONTROLLER.HEALTH
REBOOT, REPLACE = "UnschedulablePendingReboot", "UnschedulablePendingReplacement"
NOW = 1_800_000_000.0


def settings(**changes: Any) -> tuple[Any, ...]:
    defaults = {
        "release": "health",
        "namespace": "kube-system",
        "action": "replace",
        "failing_seconds": 180.0,
        "interval_seconds": 60.0,
        "max_at_once": 1,
        "settle_seconds": 3600.0,
    }
    made: tuple[Any, ...] = CONTROLLER.Settings(**{**defaults, **changes})
    return made


def moment(ago: float) -> str:
    return str(CONTROLLER._moment(NOW - ago))


def node(name: str, *, health: str | None = "Schedulable", ready: str = "True") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {} if health is None else {HEALTH: health}},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def status(
    *, ready: str = "False", since: float = 200, started: float | None = 999
) -> dict[str, Any]:
    running = {} if started is None else {"running": {"startedAt": moment(started)}}
    return {
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": moment(since)}],
        "containerStatuses": [
            {
                "name": "check",
                "image": "x",
                "imageID": "x",
                "ready": ready == "True",
                "restartCount": 0,
                "state": running,
            }
        ],
    }


def pod(name: str, **state: Any) -> dict[str, Any]:
    return {"spec": {"nodeName": name}, "status": status(**state)}


def decided(
    nodes: list[dict[str, Any]],
    pods: list[dict[str, Any]],
    *,
    marks: dict[str, float] | None = None,
    **changes: Any,
) -> Any:  # noqa: ANN401 - of a module that no checker finds
    return CONTROLLER.decide(
        nodes=nodes, pods=pods, marks=marks or {}, settings=settings(**changes), now=NOW
    )


@pytest.mark.parametrize(
    ("nodes", "pods", "marked"),
    [
        ([node("a")], [pod("a")], ["a"]),
        ([node("a")], [pod("a", ready="True")], []),
        # It fails, but not for long enough; or is new, and was never ready.
        ([node("a")], [pod("a", since=179)], []),
        ([node("a")], [pod("a", since=900, started=179)], []),
        ([node("a")], [pod("a", since=900, started=180)], ["a"]),
        # The check does not run: no image, or the pod is new.
        ([node("a")], [pod("a", started=None)], []),
        ([node("a")], [{"spec": {"nodeName": "a"}, "status": {"phase": "Pending"}}], []),
        ([node("a")], [{"spec": {}, "status": {}}], []),
        # Without its kubelet, the check says nothing.
        ([node("a", ready="Unknown")], [pod("a")], []),
        # HyperPod checks it, or has marked it; or it is no node of HyperPod.
        ([node("a", health="Unschedulable")], [pod("a")], []),
        ([node("a", health=REBOOT)], [pod("a")], []),
        ([node("a", health=None)], [pod("a")], []),
        ([], [pod("a")], []),
        # The one that fails longest goes first; one that HyperPod has marked takes its place.
        ([node("a"), node("b")], [pod("a"), pod("b", since=300)], ["b"]),
        ([node("a"), node("b", health=REPLACE)], [pod("a")], []),
    ],
)
def test_one_node_at_a_time(nodes: list[Any], pods: list[Any], marked: list[str]) -> None:
    decision = decided(nodes, pods)
    assert decision.to_mark == marked
    assert decision.marks == dict.fromkeys(marked, NOW)


def test_the_limit_counts_nodes_on_their_way_back() -> None:
    nodes, pods = [node(name) for name in "abcd"], [pod(name) for name in "abcd"]
    assert decided(nodes, pods, max_at_once=2).to_mark == ["a", "b"]
    # One is gone, and its successor is not there yet.
    recent = {"gone": NOW - 3599}
    assert decided(nodes, pods, max_at_once=2, marks=recent).to_mark == ["a"]
    assert decided(nodes, pods, max_at_once=2, marks=recent).marks == {**recent, "a": NOW}
    old = {"gone": NOW - 3600}
    assert decided(nodes, pods, max_at_once=2, marks=old).marks == {"a": NOW, "b": NOW}
    # A node that is marked still counts however long it takes, and once.
    waiting = [*nodes, node("e", health=REPLACE)]
    assert decided(waiting, pods, max_at_once=2, marks={"e": 0.0}).to_mark == ["a"]
    # One that was rebooted is given time.
    assert decided(nodes, pods, marks={"a": NOW - 10}).to_mark == []
    assert decided(nodes, pods, max_at_once=2, marks={"a": NOW - 10}).to_mark == ["b"]


def test_a_dry_run_marks_nothing() -> None:
    decision = decided([node("a")], [pod("a")], action="none")
    assert (decision.to_mark, decision.marks) == ([], {})
    assert decision.failing == {"a": NOW - 200}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Return a cluster with the chart, three nodes, and a check that fails on each."""
    with running_cluster(tmp_path) as running:
        values = {"script": SCRIPT, "instanceTypes": [GPU]}
        given = [f"--set-json={name}={json.dumps(value)}" for name, value in values.items()]
        running.helm("install", "health", str(CHART), "-n", "kube-system", *given)
        for name in ("a", "b", "c"):
            running.api.put_node(name, instance_type=GPU, labels={HEALTH: "Schedulable"})
            running.api.create(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {
                        "name": f"check-{name}",
                        "namespace": "kube-system",
                        "labels": {"node-health": "health"},
                    },
                    "spec": {
                        "nodeName": name,
                        "containers": [{"name": "check", "image": "registry.invalid/x:1"}],
                    },
                }
            )
            check(running, name)
        yield running


def check(cluster: Cluster, name: str, *, ready: str = "False") -> None:
    """Let the check of a node fail, or succeed."""
    patch = json.dumps({"status": status(ready=ready)})
    command = ["patch", "pod", f"check-{name}", "-n", "kube-system", "--type=merge"]
    cluster.kubectl(*command, "--subresource=status", "-p", patch)


def labels(cluster: Cluster) -> dict[str, str]:
    listed = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    return {item["metadata"]["name"]: item["metadata"]["labels"][HEALTH] for item in listed}


def failing(cluster: Cluster) -> set[str]:
    listed = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    return {
        item["metadata"]["name"]
        for item in listed
        if CONTROLLER.FAILING_SINCE in item["metadata"].get("annotations", {})
    }


def look(cluster: Cluster, *, now: float = NOW, **changes: Any) -> Any:  # noqa: ANN401
    api = api_of(cluster.api, folder=cluster.home)
    return CONTROLLER.look(api, settings(**changes), now=now)


def test_it_marks_on_a_cluster(cluster: Cluster) -> None:
    look(cluster, action="none")
    assert set(labels(cluster).values()) == {"Schedulable"}
    assert failing(cluster) == {"a", "b", "c"}

    check(cluster, "b", ready="True")
    look(cluster, action="reboot")
    assert labels(cluster) == {"a": REBOOT, "b": "Schedulable", "c": "Schedulable"}
    # No longer annotated: b has recovered, and a is HyperPod's.
    assert failing(cluster) == {"a", "c"}

    # HyperPod has replaced it; the chart is upgraded; the mark stays until it has settled.
    cluster.api.remove_node("a")
    cluster.helm("upgrade", "health", str(CHART), "-n", "kube-system", "--reuse-values")
    look(cluster, now=NOW + 3599)
    assert labels(cluster)["c"] == "Schedulable"
    look(cluster, now=NOW + 3600)
    assert labels(cluster)["c"] == REPLACE


def test_two_controllers_never_mark_more_than_the_limit(cluster: Cluster) -> None:
    """Each has read the same before either writes."""
    both = threading.Barrier(2)
    plain = CONTROLLER.decide

    def together(**given: Any) -> object:
        decision: object = plain(**given)
        both.wait(timeout=PATIENCE_SECONDS)
        return decision

    outcomes: list[Any] = []
    api = api_of(cluster.api, folder=cluster.home)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CONTROLLER, "decide", together)
        # They would choose different nodes, as they might after a stale read.
        threads = [
            threading.Thread(
                target=lambda: outcomes.append(CONTROLLER.look(api, settings(), now=NOW))
            )
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(outcome is None for outcome in outcomes) == [False, True]
    assert sorted(labels(cluster).values()) == ["Schedulable", "Schedulable", REPLACE]


def test_what_hyperpod_changes_in_between_is_left_alone(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = CONTROLLER.decide

    def late(**given: Any) -> object:
        cluster.kubectl("label", "node", "a", f"{HEALTH}={REBOOT}", "--overwrite")
        decided: object = plain(**given)
        return decided

    monkeypatch.setattr(CONTROLLER, "decide", late)
    look(cluster)
    assert labels(cluster)["a"] == REBOOT


def test_it_reads_pages(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CONTROLLER, "_PAGE", 2)
    assert look(cluster, action="none").failing.keys() == {"a", "b", "c"}


def test_it_keeps_of_a_node_what_it_uses() -> None:
    images = [{"names": ["x" * 500], "sizeBytes": 1}] * 50
    kept = CONTROLLER._used_of_node(
        {
            "metadata": {
                "name": "a",
                "resourceVersion": "1",
                "labels": {HEALTH: "Schedulable", "other": "x"},
                "managedFields": [{}],
            },
            "spec": {},
            "status": {"images": images, "conditions": node("a")["status"]["conditions"]},
        }
    )
    wanted = node("a")
    assert kept["status"] == wanted["status"]
    assert kept["metadata"] == {**wanted["metadata"], "resourceVersion": "1", "annotations": {}}


def test_an_api_that_does_not_answer_is_waited_for(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.api.inject(unreachable())
    api = api_of(cluster.api, folder=cluster.home)
    assert not CONTROLLER.attempt(api, settings(), now=NOW)
    assert "the next look is in 60 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "error",
    [
        URLError("refused"),
        TimeoutError(),
        ConnectionResetError(104, "reset"),
        RemoteDisconnected("gone"),
        IncompleteRead(b"{"),
    ],
)
def test_an_answer_that_breaks_off_is_waited_for(error: Exception) -> None:
    class Broken:
        def call(self, *_given: object) -> None:
            raise error

    assert not CONTROLLER.attempt(Broken(), settings(), now=NOW)
