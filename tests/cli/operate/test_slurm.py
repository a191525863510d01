"""Clusters that Slurm orchestrates: the commands that look at nodes, and those that need more."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.stub import Stubber
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.operate import clusters
from tests.support.clusters import LAUNCHED, described
from tests.support.commands import ran

GROUPS = {
    "cpus": ("ml.m5.2xlarge", {"NodeType": "Compute", "PartitionNames": ["cpu"]}),
    "gpus": ("ml.g5.12xlarge", {"NodeType": "Compute", "PartitionNames": ["gpu"]}),
    "head": ("ml.m5.xlarge", {"NodeType": "Controller"}),
    "way-in": ("ml.m5.large", {"NodeType": "Login"}),
}
IDS = {group: f"i-{number:017x}" for number, group in enumerate(GROUPS, start=1)}
DESCRIBED = described(
    {},
    Orchestrator={"Slurm": {"SlurmConfigStrategy": "Managed"}},
    InstanceGroups=[
        {
            "InstanceGroupName": name,
            "InstanceType": kind,
            "CurrentCount": 1,
            "TargetCount": 1,
            "Status": "InService",
            "SlurmConfig": slurm,
        }
        for name, (kind, slurm) in GROUPS.items()
    ],
).described
NODES = {
    "ClusterNodeSummaries": [
        {
            "InstanceGroupName": name,
            "InstanceId": IDS[name],
            "InstanceType": kind,
            "LaunchTime": LAUNCHED,
            "InstanceStatus": {"Status": "Running"},
            "PrivateDnsHostname": f"ip-10-1-0-{number}.us-west-2.compute.internal",
        }
        for number, (name, (kind, _)) in enumerate(GROUPS.items(), start=1)
    ]
}
Play = Callable[..., None]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, sagemaker: Any) -> Iterator[Play]:  # noqa: ANN401
    """Return a function that has SageMaker answer calls, in their order; each must be made."""

    def client(service: str) -> Any:  # noqa: ANN401 - a client
        assert service == "sagemaker", "a Slurm cluster is asked of SageMaker alone"
        return sagemaker

    session = SimpleNamespace(client=client, writing_client=client, region="us-west-2")
    monkeypatch.setattr(clusters, "aws_session", lambda **_: session)
    with Stubber(sagemaker) as stub:

        def add(**answers: dict[str, Any]) -> None:
            for operation, answer in answers.items():
                stub.add_response(operation, answer)

        yield add
        stub.assert_no_pending_responses()


def test_status_has_the_controller_first_and_partitions(play: Play) -> None:
    play(describe_cluster=DESCRIBED, list_cluster_nodes=NODES, list_cluster_events={"Events": []})
    code, text, _ = ran("status", "--cluster", "ml-cluster", "--nodes")
    assert code == 0
    lines = [line.split() for line in text.splitlines()]

    table = [line for line in lines if line and line[0] in GROUPS]
    assert [(line[0], line[2]) for line in table] == [
        ("head", "controller"),
        ("way-in", "login"),
        ("cpus", "cpu"),
        ("gpus", "gpu"),
    ]
    nodes = [line[0] for line in lines if line and line[0].endswith("/1")]
    assert nodes == ["head/1", "way-in/1", "cpus/1", "gpus/1"]
    assert "All nodes are healthy." in text and "sinfo on the controller" in text


@pytest.mark.parametrize(
    ("name", "group"),
    [("controller", "head"), ("login", "way-in"), ("login/1", "way-in"), ("gpus/1", "gpus")],
)
def test_a_node_is_connected_to_by_what_it_is(play: Play, name: str, group: str) -> None:
    play(describe_cluster=DESCRIBED, list_cluster_nodes=NODES)
    said = ran("connect", name, "--cluster", "ml-cluster", "--print")
    assert said.code == 0
    assert f"sagemaker-cluster:abcdefghijkl_{group}-{IDS[group]} " in said.out


@pytest.mark.parametrize(
    ("action", "name", "code"),
    [
        ("replace", "controller", 2),
        ("delete", "head/1", 2),
        ("replace", "gpus", 0),
        ("reboot", "gpus", 0),
        ("reboot", "controller", 0),
    ],
)
def test_what_is_done_to_a_node_is_shown_or_refused(
    play: Play, *, action: str, name: str, code: int, snapshot: SnapshotAssertion
) -> None:
    play(describe_cluster=DESCRIBED, list_cluster_nodes=NODES)
    if code == 0:
        play(**{f"batch_{action}_cluster_nodes": {"Successful": [IDS["gpus"]]}})
    said = ran(action, name, "--cluster", "ml-cluster", "--yes", "--no-wait")
    assert said.code == code
    assert said.out + said.err == snapshot


@pytest.mark.parametrize(
    "command",
    [("kubeconfig",), ("release", IDS["gpus"]), ("validate-nodes",)],
    ids=lambda value: value[0],
)
def test_what_needs_kubernetes_says_what_to_use_instead(
    play: Play, command: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    play(describe_cluster=DESCRIBED)
    said = ran(*command, "--cluster", "ml-cluster")
    assert said.code == 2
    assert said.err == snapshot
