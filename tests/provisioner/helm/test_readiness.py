"""Waiting for workloads after an update, with the real helm."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_shared.errors import NotReadyError, ProvisioningError, UnreachableError
from hyperpod_shared.owner import digest
from provisioner.framework.operation import CLOCK_SKEW_SECONDS
from provisioner.framework.resource import Progress
from provisioner.helm import release as helm_release
from provisioner.helm.release import HelmRelease, Unready, last_event, report, unready, usable_nodes
from provisioner.helm.state import LONGEST_INVOCATION_SECONDS
from provisioner.kubernetes.cluster import ClusterFailedError, ClusterNotFoundError
from tests.conftest import Raises
from tests.provisioner.helm.test_release import PROPERTIES, UPGRADED
from tests.support.provisioner.cloudformation import FakeCloudFormation, Framework, Time
from tests.support.provisioner.fake_helm import FakeHelm
from tests.support.provisioner.helm_charts import CHART
from tests.support.provisioner.helm_cloud import Cloud, properties

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
    cloud.install(properties(more=WAITING))
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


@pytest.mark.slow(seconds=4)
def test_before_there_are_nodes_nothing_is_waited_for(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    created = cloud.install(properties(more=WAITING))
    assert created["Data"]["Ready"] == "not waited for"
    updated = cloud.send("Update", properties("3.0.0", more=WAITING))
    assert updated["Data"]["Ready"].startswith("not waited for: ")


@pytest.mark.slow(seconds=4)
def test_ready_workloads_complete_an_update(ready: Cloud) -> None:
    assert ready.send("Update", properties("2.0.0", more=WAITING))["Data"]["Ready"] == "yes"


@pytest.mark.slow(seconds=4)
def test_update_that_runs_nothing_waits_for_nothing(ready: Cloud) -> None:
    assert ready.send("Update", properties(more=WAITING))["Data"]["Ready"] == "not waited for"


@pytest.mark.slow(seconds=4)
def test_workload_that_does_not_become_ready_is_named_and_the_stack_rolls_back(
    ready: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    ready.api.create(_event("operator-7d9f-x2k9p", "FailedScheduling", message))
    ready.requests += 1
    accepted = ready.start("Update", properties("3.0.0", more=WAITING))
    assert ready.poll(accepted) == {"IsComplete": False}
    monkeypatch.setattr(helm_release, "SECONDS_A_MINUTE", 0)
    with raises(ProvisioningError) as failed:
        ready.poll(accepted)
    text = str(failed.value)
    assert message.rstrip(".") in text
    assert len(text) < 1000
    rolled_back = ready.send("Update", properties(more=WAITING))
    assert rolled_back["Data"]["Ready"] == "yes"
    assert ready.operator() == "1.0.0 x1"


@pytest.mark.slow(seconds=4)
def test_way_back_does_not_fail_because_of_what_is_not_ready(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helm_release, "SECONDS_A_MINUTE", 0)
    cloud.add_chart("3.0.0", _stuck("3.0.0"))
    cloud.install(properties("3.0.0", more=WAITING))
    cloud.api.put_node("node-1", instance_type="ml.m5.2xlarge")
    cloud.send("Update", properties(more=WAITING))
    back = cloud.send("Update", properties("3.0.0", more=WAITING))
    assert back["Data"]["Ready"].startswith("no: Deployment kubeflow/operator ")
    assert json.dumps(back)


CREATING = NotReadyError("The EKS cluster ml is CREATING", next_step="Wait.")
NO_ACCESS = UnreachableError("helm could not read", next_step="Check the access entry.")


@pytest.fixture
def helm(time: Time) -> FakeHelm:
    return FakeHelm(now=lambda: time.now)


@pytest.fixture
def cloudformation() -> FakeCloudFormation:
    return FakeCloudFormation()


@pytest.fixture
def stack(helm: FakeHelm, time: Time, cloudformation: FakeCloudFormation) -> Framework:
    return Framework(
        resource=HelmRelease(connect=helm.connect),
        resource_type="Custom::HelmRelease",
        time=time,
        cloudformation=cloudformation,
    )


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_it_is_installed_once_the_cluster_is_ready_and_lets_it_in(
    stack: Framework, helm: FakeHelm, request_type: str
) -> None:
    helm.unready = [CREATING, CREATING, NO_ACCESS]
    old = PROPERTIES if request_type == "Update" else None
    waiter = stack.begin(request_type, PROPERTIES, old)
    for _ in range(2):
        assert not waiter.poll().complete
    assert helm.mutations == []
    assert not waiter.poll().complete
    assert waiter.poll().data["Status"] == "deployed"
    assert helm.mutations == ["upgrade"]


@pytest.mark.parametrize(
    "status", ["ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS", "DELETE_COMPLETE", "CREATE_FAILED"]
)
def test_it_is_not_installed_once_the_stack_has_turned(
    stack: Framework,
    helm: FakeHelm,
    time: Time,
    status: str,
    raises: Raises,
) -> None:
    helm.unready = [CREATING]
    waiter = stack.begin("Create", PROPERTIES)
    time.sleep(2 * CLOCK_SKEW_SECONDS)
    stack.cloudformation.status = status
    with raises(ProvisioningError):
        waiter.poll()
    assert helm.mutations == []


@pytest.mark.parametrize("seconds", [0.0, LONGEST_INVOCATION_SECONDS + 1])
def test_the_waiter_of_a_cancelled_update_leaves_the_rollback_alone(
    stack: Framework, helm: FakeHelm, time: Time, seconds: float, raises: Raises
) -> None:
    stack.create(PROPERTIES)
    waiter = stack.begin("Update", UPGRADED, PROPERTIES)
    time.sleep(2 * CLOCK_SKEW_SECONDS)
    stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    helm.put("pending-upgrade", {"hyperpod-cdk/request": "rollback", "hyperpod-cdk/content": "x"})
    before = list(helm.mutations)
    time.sleep(seconds)
    with raises(ProvisioningError):
        waiter.poll()
    assert helm.mutations == before


def _begin_elsewhere(stack: Framework, helm: FakeHelm) -> None:
    """Let another run of the next request be at work."""
    label = digest(f"{stack.stack_id}/{stack.requests + 1}")
    helm.put("pending-upgrade", {"hyperpod-cdk/request": label})


def test_a_repeated_request_goes_on_with_what_its_killed_run_was_restoring(
    stack: Framework, helm: FakeHelm, time: Time
) -> None:
    stack.create(PROPERTIES)
    _begin_elsewhere(stack, helm)
    waiter = stack.begin("Update", UPGRADED, PROPERTIES)
    helm.set_status("superseded")
    helm.put("pending-rollback", {"hyperpod-cdk/request": "of the revision that is restored"})
    assert not waiter.poll().complete
    time.sleep(LONGEST_INVOCATION_SECONDS + 1)
    assert not waiter.poll().complete
    assert waiter.poll().data["Status"] == "deployed"


def test_an_update_that_takes_one_back_goes_on(
    stack: Framework, helm: FakeHelm, cloudformation: FakeCloudFormation
) -> None:
    helm.unready = [CREATING]
    cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    waiter = stack.begin("Update", PROPERTIES, PROPERTIES)
    assert not waiter.poll().complete
    assert helm.mutations == []  # a run of the other update may not see yet that it is given up
    stack.time.sleep(50)
    assert not waiter.poll().complete
    assert helm.mutations == ["upgrade"]


def test_an_update_that_takes_one_back_has_the_last_word(
    stack: Framework, helm: FakeHelm, cloudformation: FakeCloudFormation
) -> None:
    stack.create(PROPERTIES)
    cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    waiter = stack.begin("Update", PROPERTIES, UPGRADED)
    helm.put("deployed", {**helm.labels, "hyperpod-cdk/content": "of a run that is given up"})
    assert not waiter.poll().complete
    stack.time.sleep(50)
    assert not waiter.poll().complete
    assert waiter.poll().complete
    assert helm.mutations == ["upgrade", "upgrade"]


def test_a_delete_waits_for_a_cluster_that_is_being_created(
    stack: Framework, helm: FakeHelm
) -> None:
    stack.create(PROPERTIES)
    helm.unready = [CREATING, CREATING]
    waiter = stack.begin("Delete", PROPERTIES)
    assert not waiter.poll().complete
    assert waiter.poll() == Progress(complete=True)
    assert helm.mutations == ["upgrade", "uninstall"]


@pytest.mark.parametrize("error", [ClusterNotFoundError, ClusterFailedError])
def test_a_delete_has_nothing_to_do_without_a_kubernetes_api(
    stack: Framework, helm: FakeHelm, error: type[ProvisioningError]
) -> None:
    stack.create(PROPERTIES)
    helm.unready = [error("The EKS cluster ml is gone", next_step="None.")] * 2
    assert stack.delete() == Progress(complete=True)
    assert helm.mutations == ["upgrade"]


@pytest.mark.parametrize("error", [ClusterNotFoundError, ClusterFailedError])
def test_a_create_says_that_the_cluster_will_not_do(
    stack: Framework, helm: FakeHelm, error: type[ProvisioningError], raises: Raises
) -> None:
    helm.unready = [CREATING, error("The EKS cluster ml is FAILED", next_step="Mend it.")]
    waiter = stack.begin("Create", PROPERTIES)
    with raises(ProvisioningError):
        waiter.poll()


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
    "workload",
    [
        _daemon_set(),
        _daemon_set(desiredNumberScheduled=0, updatedNumberScheduled=0, numberAvailable=0),
        _daemon_set(numberAvailable=1),
        _daemon_set(updatedNumberScheduled=2),
        _daemon_set(observedGeneration=1),
        _deployment(),
        _deployment(availableReplicas=0),
        _deployment(updatedReplicas=1),
        _deployment(replicas=3),
        _deployment("StatefulSet", availableReplicas=1),
        _workload("Deployment", {}, {}),
        _workload("Deployment", {"replicas": 0}, {}),
    ],
)
def test_state_of_a_workload(workload: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert [found.state for found in unready([workload])] == snapshot


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


def _event_at(name: str, message: str, *, at: str = "", kind: str = "Normal") -> dict[str, Any]:
    return {
        "involvedObject": {"name": name},
        "reason": "Seen",
        "message": message,
        "type": kind,
        "lastTimestamp": at or None,
        "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
    }


AGENT = Unready("DaemonSet", "aws-hyperpod", "health-monitoring-agent", "is not ready")


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
    assert bool(last_event([_event_at(name, "m")], AGENT)) is concerns


def test_last_warning_comes_before_later_events() -> None:
    events = [
        _event_at(
            "health-monitoring-agent-x2k9p", "old", at="2026-01-02T00:00:00Z", kind="Warning"
        ),
        _event_at(
            "health-monitoring-agent-x2k9p", "new", at="2026-01-03T00:00:00Z", kind="Warning"
        ),
        _event_at("health-monitoring-agent-x2k9p", "fine", at="2026-01-04T00:00:00Z"),
    ]
    assert last_event(events, AGENT) == "Seen: new"


def test_report_names_some_and_counts_the_rest(snapshot: SnapshotAssertion) -> None:
    events = {"aws-hyperpod": [_event_at("health-monitoring-agent", "no image")]}
    assert [report([AGENT] * 5, events), report([AGENT], {})] == snapshot
    assert " more" not in report([AGENT] * 3, {})
