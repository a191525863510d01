"""How a prediction is told, and which exit code it has."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.archive.deployment import ArchivedNode
from hyperpod_cli.inspect.permissions.missing import MissingPermission
from hyperpod_rehearsal.change.nodes import EndingNodes
from hyperpod_rehearsal.change.outcome import ChangeAction, ResourceChange
from hyperpod_rehearsal.change.prediction import Prediction, Rollback

FILES = "AWS::FSx::FileSystem"


def prediction(**values: Any) -> Prediction:
    return Prediction(
        deployment="ml", place="111122223333/us-west-2", written="today", digest="", **values
    )


def change(action: ChangeAction, type: str = FILES, *, holds_data: bool = True) -> ResourceChange:
    return ResourceChange("ml-storage", action, type, "Files1", "Files", holds_data)


def nodes(*pods: str, count: int = 2, is_managed: bool = False) -> EndingNodes:
    of = tuple(
        ArchivedNode(
            id=f"i-{number}",
            group="workers",
            instance_type="ml.m5.large",
            status="Running",
            pods=pods,
        )
        for number in range(count)
    )
    return EndingNodes(group="workers", ends=1, added=0, nodes=of, is_managed=is_managed)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"changes": [change(ChangeAction.UPDATED)]}, 0),
        ({"changes": [change(ChangeAction.REPLACED)]}, 4),
        ({"changes": [change(ChangeAction.DELETED, holds_data=False)]}, 0),
        ({"changes": [change(ChangeAction.KEPT)]}, 0),
        ({"planned": ["This deployment changes:"]}, 0),
        ({"nodes": [nodes()]}, 0),
        ({"nodes": [nodes(is_managed=True)]}, 0),
        ({"nodes": [nodes("default/train")]}, 4),
        ({"error": "ml-storage: no"}, 1),
        ({"missing": [MissingPermission("deployer", "fsx:X", "*")]}, 1),
        ({"minutes": 3, "changes": [change(ChangeAction.UPDATED)]}, 0),
    ],
)
def test_it_is_told(values: dict[str, Any], code: int, snapshot: SnapshotAssertion) -> None:
    found = prediction(**values)
    assert [line for line in found.lines() if line not in {*prediction().lines()}] == snapshot
    assert found.code == code
    assert found.as_json()["code"] == code


def test_ten_nodes_are_named_and_the_rest_is_counted() -> None:
    lines = [*prediction(nodes=[nodes(count=12)]).lines()]
    assert sum("ml.m5.large" in line for line in lines) == 10
    assert "  and 2 more nodes" in lines


def test_where_and_when_it_was_predicted_is_told(snapshot: SnapshotAssertion) -> None:
    assert [*prediction().lines()] == snapshot


@pytest.mark.parametrize(
    ("status", "is_only"),
    [
        ("UPDATE_ROLLBACK_COMPLETE", False),
        ("UPDATE_ROLLBACK_COMPLETE", True),
        ("UPDATE_ROLLBACK_FAILED", False),
    ],
)
def test_a_rollback_is_told(status: str, is_only: bool, snapshot: SnapshotAssertion) -> None:
    rollback = Rollback(
        step=change(ChangeAction.UPDATED),
        is_only=is_only,
        statuses={"ml-storage": status},
        changes=[],
        ended=0,
        nodes=2,
    )
    found = prediction(rollback=rollback)
    assert [line for line in found.lines() if line not in {*prediction().lines()}] == snapshot
