"""The state of a cluster, once and again and again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, NoRegionError
from botocore.stub import Stubber
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.events.history import ClusterEvent
from hyperpod_cli.operate.nodes.health import Health
from hyperpod_cli.operate.status.display import changes, display, watch
from hyperpod_cli.operate.status.snapshot import (
    GroupState,
    RequestedNode,
    Snapshot,
    group_state,
    node_states,
)
from hyperpod_cli.operate.status.snapshot import snapshot as snapshot_of
from hyperpod_cli.terminal.console import console, print_json
from hyperpod_cli.terminal.errors import OpsError
from tests.support.clusters import described, node
from tests.support.configs import CONFIG_FOLDER
from tests.support.notifier import refused

GROUPS = {"a-group-whose-name-has-as-many-letters-as-hyperpod-allows-63char": 500, "b": 500}
CAPACITY = ClusterEvent(
    id="1",
    time="2026-10-31T23:00:00Z",
    level="Error",
    group="b",
    node="i-1",
    description="Instance creation failed",
    cause="We currently do not have sufficient capacity to launch new ml.p5.48xlarge instances.",
    kind="capacity",
    next_step="Wait or try again later.",
)


def look(*, broken: int, known: bool = True, requested: Sequence[RequestedNode] = ()) -> Snapshot:
    cluster = described(dict.fromkeys(GROUPS, (500, 500)))
    nodes = [node(500 * k + n, name) for k, name in enumerate(GROUPS) for n in range(500)]
    health = {
        each.kubernetes_name: Health(
            status="UnschedulablePendingReplacement" if number < broken else "Schedulable",
            deep_health_check="Passed",
        )
        for number, each in enumerate(nodes)
    }
    states = node_states(cluster, nodes, health=health if known else None)
    return Snapshot(
        cluster=cluster.name,
        region="us-west-2",
        status=cluster.status,
        time="2026-11-01T00:00:00Z",
        notes=[] if known else ["Health is not known."],
        groups=[
            group_state(name, group, states, is_known=known)
            for name, group in cluster.groups.items()
        ],
        nodes=states,
        requested=requested,
        events=[CAPACITY],
    )


def printed(found: Snapshot, *, width: int = 80, every_node: bool = False) -> list[str]:
    out = Console(file=StringIO(), width=width, color_system=None, highlight=False)
    out.print(display(found, every_node=every_node))
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()


def test_nodes_without_an_instance_are_counted_by_their_reason(
    snapshot: SnapshotAssertion,
) -> None:
    why = "Pending: capacity: We currently do not have sufficient capacity"
    requested = [RequestedNode(group="b", id=str(number), trouble=why) for number in range(30)]
    requested.append(RequestedNode(group="b", id="x", trouble="Pending"))
    assert printed(look(broken=0, requested=requested)) == snapshot


@pytest.mark.parametrize(
    ("plan", "status"),
    [("Scheduled", "InService, waits for its training plan"), ("Active", "InService")],
)
def test_a_group_without_nodes_says_that_it_waits_for_its_plan(plan: str, status: str) -> None:
    (group,) = described({"planned": (0, 4)}).groups.values()
    state = group_state("planned", {**group, "TrainingPlanStatus": plan}, [], is_known=True)
    lines = printed(replace(look(broken=0), groups=[state]))
    (line,) = (line for line in lines if line.startswith("planned"))
    assert line.endswith(f"0 of 4        0  {status}")


def test_a_large_cluster_fits_a_screen(snapshot: SnapshotAssertion) -> None:
    lines = printed(look(broken=37))

    assert len(lines) < 100
    assert max(map(len, lines)) <= 80
    assert lines == snapshot


def test_a_narrow_screen_breaks_no_name(snapshot: SnapshotAssertion) -> None:
    found = look(broken=0)
    groups = [replace(group, name=f"worker-group-{n}") for n, group in enumerate(found.groups)]
    lines = printed(replace(found, groups=groups), width=60)

    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("worker-group-") for line in lines) == 2
    assert lines == snapshot


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (200, ["node", "ID", "type", "status", "health", "launched"]),
        (80, ["node", "ID", "type", "status", "health"]),
        (70, ["node", "ID", "status", "health"]),
    ],
)
def test_a_narrow_table_of_nodes_breaks_no_name(width: int, columns: list[str]) -> None:
    found = look(broken=0)
    nodes = [replace(node, group="worker-group") for node in found.nodes[:3]]
    lines = printed(replace(found, nodes=nodes), width=width, every_node=True)
    assert columns in [line.split() for line in lines]
    assert sum(line.startswith("worker-group/") and "i-0" in line for line in lines) == 3


def test_what_is_piped_breaks_no_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    long = "/aws/sagemaker/Clusters/ml-cluster/" + "a" * 200
    event = replace(CAPACITY, cause="", kind="", description=f"see {long} {long}")
    console().print(display(replace(look(broken=1), events=[event]), every_node=True))
    assert f"see {long} {long}\n" in capsys.readouterr().out


def test_all_nodes_are_listed_if_asked_for() -> None:
    found = look(broken=1)
    lines = printed(replace(found, nodes=found.nodes[499:501]), width=200, every_node=True)
    (listed,) = (line.split() for line in lines if line.startswith("b/1 "))
    assert listed == [
        *("b/1", f"i-{500:017x}", "ml.p5.48xlarge", "Running", "Schedulable"),
        "2026-11-01T00:00:00Z",
    ]


def test_nodes_whose_health_is_not_known_are_not_called_faulty(
    snapshot: SnapshotAssertion,
) -> None:
    lines = printed(look(broken=3, known=False))

    assert not any("healthy." in line or "not healthy" in line for line in lines)
    assert lines == snapshot


def test_json_has_every_node(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(look(broken=1))
    found = json.loads(capsys.readouterr().out)

    assert len(found["nodes"]) == 1000
    assert [each["healthy"] for each in found["groups"]] == [499, 500]


SHORT = {
    "nodegroupName": "spot",
    "status": "DEGRADED",
    "instanceTypes": ["g5.12xlarge", "g6.12xlarge"],
    "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 4},
    "health": {
        "issues": [
            {
                "code": "AsgInstanceLaunchFailures",
                "message": "Could not launch Spot Instances. UnfulfillableCapacity - No capacity. "
                "Launching EC2 instance failed.",
                "resourceIds": ["eks-spot"],
            }
        ]
    },
}
WHOLE = {
    "nodegroupName": "a100",
    "status": "ACTIVE",
    "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1},
}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsSession]:
    """Of an account whose EKS cluster has two node groups; a third is deleted while it is read."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    session = AwsSession(region="us-west-2")
    eks = session.client("eks")
    monkeypatch.setattr(AwsSession, "client", lambda *_: eks)
    with Stubber(eks) as stubber:
        found = {"status": "ACTIVE", "endpoint": "https://eks"}
        stubber.add_response("describe_cluster", {"cluster": found}, {"name": "ml-eks"})
        names = {"nodegroups": ["spot", "gone", "a100"]}
        stubber.add_response("list_nodegroups", names, {"clusterName": "ml-eks"})
        stubber.add_response("describe_nodegroup", {"nodegroup": SHORT})
        stubber.add_client_error("describe_nodegroup", "ResourceNotFoundException")
        stubber.add_response("describe_nodegroup", {"nodegroup": WHOLE})
        yield session
        stubber.assert_no_pending_responses()


def test_node_groups_are_shown_without_a_hyperpod_cluster(
    session: AwsSession, snapshot: SnapshotAssertion
) -> None:
    config = load_config(CONFIG_FOLDER / "examples" / "eks-p4d.yaml")
    named = config.model_copy(update={"name": "ml"})
    chosen = Chosen(name="ml-cluster", session=session, config=named)
    found = snapshot_of(chosen, now=datetime(2026, 11, 1, tzinfo=UTC))
    lines = printed(found, width=200)

    assert lines == snapshot
    whole = replace(found, node_groups=[found.node_groups[0]])
    assert [*changes(found, replace(found, node_groups=whole.node_groups))] == [
        "2026-11-01T00:00:00Z spot: healthy, or gone"
    ]
    assert "There are no nodes." in printed(replace(found, node_groups=[]))


@pytest.mark.parametrize(
    "error",
    [refused("ResourceNotFoundException"), refused("ThrottlingException"), NoRegionError()],
)
def test_node_groups_and_events_that_are_not_known_are_a_note(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    sagemaker, eks = Mock(), Mock()
    sagemaker.describe_cluster.return_value = described(
        {"b": (0, 0)}, Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:r:a:cluster/ml-eks"}}
    ).described
    sagemaker.get_paginator.return_value.paginate.return_value = []
    eks.describe_cluster.side_effect = refused("ResourceNotFoundException")
    eks.get_paginator.return_value.paginate.side_effect = error
    clients = {"sagemaker": sagemaker, "eks": eks}
    monkeypatch.setattr(AwsSession, "client", lambda _session, name: clients[name])
    chosen = Chosen(name="ml-cluster", session=AwsSession(region="us-west-2"), config=None)
    found = snapshot_of(chosen, now=datetime(2026, 11, 1, tzinfo=UTC))
    assert [note.partition(". ")[0] for note in found.notes] == [
        "Health is not known",
        "EKS node groups are not known",
    ]
    assert (found.status, found.node_groups) == ("InService", ())
    events = Mock(side_effect=refused("AccessDeniedException"))
    monkeypatch.setattr("hyperpod_cli.operate.status.snapshot.events_of", events)
    assert "Events are not known" in str(snapshot_of(chosen, now=datetime(2026, 11, 1, tzinfo=UTC)))
    events.side_effect = refused("ThrottlingException")
    with pytest.raises(ClientError):
        snapshot_of(chosen, now=datetime(2026, 11, 1, tzinfo=UTC))


def test_changes_are_lines(snapshot: SnapshotAssertion) -> None:
    before, after = look(broken=0), look(broken=1)

    assert [*changes(before, before)] == []
    assert {
        "one breaks": [*changes(before, after)],
        "one is healthy again": [*changes(after, before)],
        "many break": [*changes(before, look(broken=40))],
        # With the time of the event, not of the look.
        "an event": [*changes(replace(before, events=[]), before)],
    } == snapshot
    again = replace(CAPACITY, id="2", time="2026-11-01T00:00:00Z", times=2)
    assert [*changes(before, replace(before, events=[again]))] == []


GROUP = GroupState(
    name="a",
    instance_type="ml.m5.2xlarge",
    status="InService",
    current=1,
    target=2,
    running=1,
    healthy=1,
    deep_health_checks={},
)
FIRST = Snapshot(
    cluster="ml",
    region="us-west-2",
    status="InService",
    time="2026-11-01T00:00:00Z",
    notes=[],
    groups=[GROUP],
)
SECOND = replace(FIRST, time="2026-11-01T00:00:10Z", groups=[replace(GROUP, current=2)])


@pytest.mark.parametrize("terminal", [False, True])
def test_it_goes_on_after_an_error_until_interrupted(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    error = OpsError("no network")
    looks: Iterator[Snapshot | Exception] = iter([FIRST, error, error, SECOND, SECOND])

    def look(*_: object, **__: object) -> Snapshot:
        found = next(looks, None)
        if found is None:
            raise KeyboardInterrupt
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr("hyperpod_cli.operate.status.display.snapshot", look)
    out = Console(file=StringIO(), width=80, height=24, force_terminal=terminal, color_system=None)
    chosen = Chosen(name="ml", session=AwsSession(region="us-west-2"), config=None)
    with pytest.raises(KeyboardInterrupt):
        watch(chosen, console=out, seconds=0)

    assert isinstance(out.file, StringIO)
    text = out.file.getvalue()
    if terminal:
        screens = text.split("ml in us-west-2")
        # Above what was seen last, until a look succeeds; at each error, and no longer.
        assert [screen.count("no network") for screen in screens[:4]] == [0, 1, 1, 0]
        assert text.count("no network") == 2
        assert "2 of 2" in text
    else:
        assert text.count("no network") == 1
        assert text.splitlines()[-1].startswith(f"{SECOND.time} a: 2 of 2 nodes")
