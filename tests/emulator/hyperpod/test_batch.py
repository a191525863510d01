"""Adding, deleting, replacing and rebooting single nodes."""

from __future__ import annotations

from typing import Literal

import pytest

from emulator.hyperpod import Faults, Unknowns
from tests.support.hyperpod_api import (
    NAME,
    eks,
    group,
    ids,
    running,
)

NOBODY = "i-00000000000000000"


def test_batch_add() -> None:
    api = running()
    additions = [
        {"InstanceGroupName": "b", "IncrementTargetCountBy": 3},
        {"InstanceGroupName": "x", "IncrementTargetCountBy": 1},
    ]

    answer = api("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=additions, ClientToken="t")

    assert [node["Status"] for node in answer["Successful"]] == ["Pending"] * 3
    (failed,) = answer["Failed"]
    assert (failed["ErrorCode"], failed["FailedCount"]) == ("InstanceGroupNotFound", 1)
    api.wait()
    again = api("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=additions, ClientToken="t")
    logical_ids = [node["NodeLogicalId"] for node in answer["Successful"]]
    assert [node["NodeLogicalId"] for node in again["Successful"]] == logical_ids
    assert [node["Status"] for node in again["Successful"]] == ["Running"] * 3
    assert api.counts() == {"a": (2, 2), "b": (4, 4)}


def test_batch_add_is_refused() -> None:
    api = running(faults=Faults(quotas={"ml.g5.12xlarge": 3}))
    addition = {"InstanceGroupName": "a", "IncrementTargetCountBy": 1}
    over = api.refused("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=[addition])
    assert over.code == "ResourceLimitExceeded"

    most = {"InstanceGroupName": "a", "IncrementTargetCountBy": 50}
    many = api.refused("BatchAddClusterNodes", ClusterName=NAME, NodesToAdd=[most, addition])
    assert "At most 50" in many.message

    api.create(group(count=0), ClusterName="classic", Orchestrator=eks("classic"))
    classic = api.refused("BatchAddClusterNodes", ClusterName="classic", NodesToAdd=[addition])
    assert classic.code == "ValidationException"


def test_batch_delete_lowers_the_target() -> None:
    api = running()
    first, second = api.nodes(InstanceGroupNameContains="a", IncludeNodeLogicalIds=True)

    answer = api(
        "BatchDeleteClusterNodes",
        ClusterName=NAME,
        NodeIds=[first["InstanceId"], NOBODY],
        NodeLogicalIds=[second["NodeLogicalId"]],
    )

    assert answer["Successful"] == [first["InstanceId"]]
    assert answer["SuccessfulNodeLogicalIds"] == [second["NodeLogicalId"]]
    assert [failure["Code"] for failure in answer["Failed"]] == ["NodeIdNotFound"]
    api.wait()
    assert api.counts() == {"a": (0, 0), "b": (1, 1)}
    assert api.refused("BatchDeleteClusterNodes", ClusterName=NAME).code == "ValidationException"


def test_batch_replace_and_reboot() -> None:
    api = running()
    (before,) = ids(api, "b")

    replaced = api("BatchReplaceClusterNodes", ClusterName=NAME, NodeIds=[before, NOBODY])
    assert replaced["Successful"] == [before]
    assert [failure["ErrorCode"] for failure in replaced["Failed"]] == ["InstanceIdNotFound"]
    busy = api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[before])
    assert [failure["ErrorCode"] for failure in busy["Failed"]] == ["InvalidInstanceStatus"]
    api.wait()
    (after,) = ids(api, "b")
    assert after != before

    assert api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[after])["Failed"] == []
    (rebooting,) = api.nodes(InstanceGroupNameContains="b")
    assert rebooting["InstanceStatus"]["Status"] == "Pending"
    api.wait()
    (rebooted,) = api.nodes(InstanceGroupNameContains="b")
    assert rebooted["InstanceId"] == after
    assert rebooted["InstanceStatus"]["Status"] == "Running"


@pytest.mark.parametrize("status", ["Pending", "Running"])
def test_a_node_that_reboots_is_in_use(status: Literal["Pending", "Running"]) -> None:
    api = running(unknowns=Unknowns(rebooting=status))
    first, *_ = ids(api)
    api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[first])

    for operation, member, code in (
        ("BatchRebootClusterNodes", "ErrorCode", "InstanceIdInUse"),
        ("BatchReplaceClusterNodes", "ErrorCode", "InstanceIdInUse"),
        ("BatchDeleteClusterNodes", "Code", "NodeIdInUse"),
    ):
        (failed,) = api(operation, ClusterName=NAME, NodeIds=[first])["Failed"]
        assert failed[member] == code
