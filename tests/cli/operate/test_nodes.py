"""Nodes: which one is meant, how healthy it is, what is done to it, and when that is over."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from kubernetes.client import ApiClient
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.operate.nodes import command, ending
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, NodeAction
from hyperpod_cli.operate.nodes.health import Health, trouble_of
from hyperpod_cli.operate.nodes.named import named_nodes
from hyperpod_cli.operate.nodes.waiting import Watched, wait
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import pod
from tests.conftest import Raises
from tests.support.clusters import LAUNCHED, described, node
from tests.support.commands import run


@pytest.mark.parametrize("action", [DELETE, REBOOT, REPLACE], ids=lambda action: action.name)
def test_it_asks_and_waits_unless_it_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, action: NodeAction
) -> None:
    given: list[tuple[tuple[object, ...], dict[str, Any]]] = []
    monkeypatch.setattr(command, "run", lambda *names, **options: given.append((names, options)))

    assert run(action.name, "worker/1", "worker/2") == 0
    assert run(action.name, "worker/1", "--yes", "--no-wait") == 0

    (names, asking), (_, sure) = given
    assert names == (action, ["worker/1", "worker/2"])
    assert (asking["yes"], asking["waits"]) == (False, True)
    assert (sure["yes"], sure["waits"]) == (True, False)


HEALTHY = Health(status="Schedulable")
ID = f"i-{1:017x}"

CASES = [
    ("Running", "", HEALTHY),
    ("Running", "", Health()),
    ("Running", "", None),
    ("Running", "", Health(status="Schedulable", ready=False)),
    ("Running", "", Health(status="Unschedulable", deep_health_check="InProgress")),
    ("DeepHealthCheckInProgress", "", None),
    ("Running", "", Health(status="Unschedulable")),
    ("Running", "", Health(status="UnschedulablePendingReplacement", fault="NvidiaGPU: Xid74")),
    ("Running", "", Health(status="UnschedulablePendingReboot")),
    ("Failure", "Insufficient capacity.", HEALTHY),
    ("ShuttingDown", "", HEALTHY),
]


@pytest.mark.parametrize(("status", "message", "health"), CASES)
def test_trouble_is_told(
    status: str, message: str, health: Health | None, snapshot: SnapshotAssertion
) -> None:
    node_of_case = node(1, status=status, message=message)
    assert trouble_of(node_of_case, health, recovers=True) == snapshot


@pytest.mark.parametrize(("ending", "command"), [("Replacement", "replace"), ("Reboot", "reboot")])
def test_without_node_recovery_somebody_has_to_act(ending: str, command: str) -> None:
    health = Health(status=f"UnschedulablePending{ending}")

    assert trouble_of(node(1), health, recovers=False) == f"run `hyperpod-cdk {command} {ID}`"


NODES = [node(1, "alone"), *(node(number, "many") for number in range(2, 15))]

CLUSTER = described(dict.fromkeys(("alone", "many", "empty"), (1, 1)), ClusterName="ml")
FOUND = {
    "alone": 1,
    "alone/1": 1,
    "many/1": 2,
    "many/13": 14,
    f"i-{3:017x}": 3,
    f"hyperpod-i-{3:017x}": 3,
}
REFUSED = ["many", "many/14", "many/0", "none", "", "empty", "empty/1"]


@pytest.mark.parametrize(("name", "number"), FOUND.items())
def test_a_name_means_one_node(name: str, number: int) -> None:
    (found,) = named_nodes(NODES, [name], cluster=CLUSTER)

    assert found.node.id == f"i-{number:017x}"


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_means_none_or_several_is_refused(name: str, raises: Raises) -> None:
    with raises(OpsError):
        named_nodes(NODES, [name], cluster=CLUSTER)


@pytest.mark.parametrize("ends", [2, 1])
def test_what_ends_with_nodes_of_a_node_group_is_named(
    ends: int,
    kubernetes: KubernetesApi,
    api: ApiClient,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    for name, group in (("ng-0", "ng"), ("ng-1", "ng"), ("other", "other")):
        labels = {"eks.amazonaws.com/nodegroup": group}
        kubernetes.put_node(name, instance_type="p4d.24xlarge", labels=labels)
    for name, on in (("train", "ng-0"), ("serve", "other")):
        kubernetes.create(pod(name, nodeName=on))
    monkeypatch.setattr(ending, "kubernetes_api", lambda *_given, **_named: nullcontext(api))
    session = AwsSession(region="us-west-2")
    assert [*ending.node_group_lines(session, "ml-eks", group="ng", ends=ends)] == snapshot


def test_a_node_that_is_named_twice_is_meant_once() -> None:
    assert len(named_nodes(NODES, ["alone", "alone/1", "many/1"], cluster=CLUSTER)) == 2


def test_a_cluster_without_nodes_says_so(raises: Raises) -> None:
    with raises(OpsError):
        named_nodes([], ["workers"], cluster=CLUSTER)


ONE, TWO, NEW = node(1), node(2), node(3)
STOPPING, STARTING = replace(ONE, status="ShuttingDown"), replace(ONE, status="Pending")
AGAIN = replace(ONE, launched=LAUNCHED + timedelta(hours=1))
WANTED = {"workers": "1 of 2 nodes are Running"}

# What is looked at one after the other, with the seconds since the call, and what is left to do.
STEPS: list[tuple[NodeAction, list[tuple[float, list[ClusterNode]]], dict[str, str]]] = [
    # The list lags behind: nothing seems to have happened yet.
    (REPLACE, [(0, [ONE, TWO])], {ONE.id: "Running"} | WANTED),
    (REPLACE, [(0, [STOPPING, TWO])], {ONE.id: "ShuttingDown"} | WANTED),
    (REPLACE, [(0, [TWO])], WANTED),
    (REPLACE, [(0, [TWO, replace(NEW, status="Pending")])], WANTED),
    (
        REPLACE,
        [(0, [TWO, *[replace(NEW, id="", status="Pending", message="no capacity")] * 2])],
        {"workers": "1 of 2 nodes are Running; Pending: capacity: no capacity"},
    ),
    (REPLACE, [(0, [TWO, NEW])], {}),
    # A replacement may keep the ID.
    (REPLACE, [(0, [AGAIN, TWO])], {}),
    (DELETE, [(0, [ONE, TWO])], {ONE.id: "Running"}),
    (DELETE, [(0, [STOPPING, TWO])], {ONE.id: "ShuttingDown"}),
    (DELETE, [(0, [TWO])], {}),
    (REBOOT, [(0, [ONE, TWO])], {ONE.id: "Running"}),
    (REBOOT, [(0, [STARTING, TWO])], {ONE.id: "Pending"}),
    (REBOOT, [(0, [STARTING, TWO]), (10, [ONE, TWO])], {}),
    # It was over between two looks.
    (REBOOT, [(299, [ONE, TWO])], {ONE.id: "Running"}),
    (REBOOT, [(300, [ONE, TWO])], {}),
    # It went away meanwhile.
    (REBOOT, [(0, [TWO])], {}),
]


@pytest.mark.parametrize(("action", "looks", "left"), STEPS)
def test_what_is_left_to_do(
    action: NodeAction, looks: list[tuple[float, list[ClusterNode]]], left: dict[str, str]
) -> None:
    seen = Watched(action=action, nodes=[ONE], among=[ONE, TWO])
    for seconds, nodes in looks:
        found = seen.unfinished(nodes, seconds=seconds, health={})

    assert found == left


def test_a_node_that_failed_is_to_be_replaced_by_one_that_runs() -> None:
    failed = replace(ONE, status="Failure")
    seen = Watched(action=REPLACE, nodes=[failed], among=[failed, TWO])
    assert seen.unfinished([TWO], seconds=0, health={}) == WANTED


READY, SILENT = Health(boot_id="a"), Health(boot_id="a", ready=False)
STARTED, UNREADY = Health(boot_id="b"), Health(boot_id="b", ready=False)
AWAY = {ONE.id: "not Ready in Kubernetes"}
STAYS = {ONE.id: "Running"}


@pytest.mark.parametrize(
    ("looks", "left"),
    [
        # SageMaker lists it as Running all the time, and Kubernetes lags behind.
        ([READY], STAYS),
        ([READY, SILENT], AWAY),
        ([READY, SILENT, STARTED], {}),
        ([SILENT, READY], {}),
        # It was over before Kubernetes noticed.
        ([READY, STARTED], {}),
        ([READY, UNREADY], AWAY),
        # Kubernetes was not reached, or draws no IDs.
        ([None, None], STAYS),
        ([Health(), Health()], STAYS),
        ([None, SILENT, None], {}),
    ],
)
def test_kubernetes_knows_more_of_a_restart(
    looks: list[Health | None], left: dict[str, str]
) -> None:
    before = {ONE.kubernetes_name: READY}
    seen = Watched(action=REBOOT, nodes=[ONE], among=[ONE, TWO], health=before)
    for known in looks:
        health = {} if known is None else {ONE.kubernetes_name: known}
        found = seen.unfinished([ONE, TWO], seconds=1, health=health)

    assert found == left


SUMMARY = {
    "InstanceGroupName": ONE.group,
    "InstanceId": ONE.id,
    "InstanceType": ONE.instance_type,
    "LaunchTime": LAUNCHED,
    "InstanceStatus": {"Status": "ShuttingDown"},
}


def deleted(sagemaker: BaseClient, *, times: Sequence[float]) -> list[str]:
    """Wait for a deletion; return what is shown."""
    shown: list[str] = []
    clock = iter(times)
    wait(
        sagemaker,
        Watched(action=DELETE, nodes=[ONE], among=[ONE]),
        cluster=described({"workers": (1, 1)}),
        health=dict,
        show=shown.append,
        seconds=0,
        clock=lambda: next(clock),
    )
    return shown


def test_the_wait_ends_at_its_deadline(sagemaker: BaseClient, raises: Raises) -> None:
    with (
        Stubber(sagemaker) as stub,
        raises(OpsError),
    ):
        for _ in range(2):
            stub.add_response("list_cluster_nodes", {"ClusterNodeSummaries": [SUMMARY]})
        deleted(sagemaker, times=[0, 0, DELETE.minutes * 60])


def test_the_wait_survives_what_may_pass(sagemaker: BaseClient) -> None:
    with Stubber(sagemaker) as stub:
        stub.add_response("list_cluster_nodes", {"ClusterNodeSummaries": [SUMMARY]})
        stub.add_client_error("list_cluster_nodes", "ThrottlingException", "Rate exceeded")
        stub.add_response("list_cluster_nodes", {"ClusterNodeSummaries": []})
        first, throttled, *done = deleted(sagemaker, times=[0, 0, 1, 2])

    assert first == f"{ONE.id}: ShuttingDown"
    assert "throttled" in throttled
    assert done == [f"{ONE.id}: done", "looking at the nodes: done"]


def test_the_wait_ends_when_nodes_may_not_be_listed(sagemaker: BaseClient) -> None:
    with Stubber(sagemaker) as stub, pytest.raises(ClientError, match="AccessDenied"):
        stub.add_client_error("list_cluster_nodes", "AccessDeniedException", "no")
        deleted(sagemaker, times=[0, 0])
