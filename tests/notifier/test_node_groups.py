"""What is told of EKS node groups, of whose health no event says anything."""

import json
from typing import Any

import pytest

from tests.support.notifier import EKS, LOOK, Cluster, notifier


def _node_group(status: str, *issues: tuple[str, str]) -> dict[str, Any]:
    found = [{"code": code, "message": text, "resourceIds": ["asg"]} for code, text in issues]
    arn = f"arn:aws:eks:us-west-2:111122223333:nodegroup/{EKS}/spot/1"
    health = {"issues": found}
    return {"nodegroupName": "spot", "nodegroupArn": arn, "status": status, "health": health}


_SPOT = (
    "AsgInstanceLaunchFailures",
    "Could not launch Spot Instances. UnfulfillableCapacity - There is no Spot capacity. Launching "
    "EC2 instance failed.",
)
_QUOTA = ("AsgInstanceLaunchFailures", "VcpuLimitExceeded - You have requested more vCPU capacity.")
_FOLLOWS = ("NodeCreationFailure", "Instances failed to join the kubernetes cluster")
_SHORT, _WELL = _node_group("DEGRADED", _SPOT, _FOLLOWS), _node_group("ACTIVE")
_OF_SPOT, _OF_QUOTA = "node-group-degraded: Spot", "node-group-degraded: quota"


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([_WELL], []),
        ([_node_group("CREATE_FAILED", _SPOT)], []),  # which the deployment itself says
        ([_SHORT, _SHORT], [_OF_SPOT]),
        (
            [_SHORT, _node_group("DEGRADED", _SPOT, _QUOTA)],
            [_OF_SPOT, _OF_QUOTA],
        ),
        ([_SHORT, _WELL, _SHORT], [_OF_SPOT, _OF_SPOT]),
        ([_node_group("DEGRADED", ("New", "It is new"))], ["node-group-degraded: New"]),
        ([_node_group("DEGRADED")], ["node-group-degraded: DEGRADED"]),
        ([_node_group("DEGRADED", _FOLLOWS)], ["node-group-degraded: join"]),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_each_issue_of_a_degraded_node_group_is_told_once(
    dynamodb: object, exists: bool, groups: list[dict[str, Any]], told: list[str]
) -> None:
    cluster = Cluster() if exists else Cluster(cluster=None)
    for group in groups:
        cluster.now += 300
        cluster.node_groups = {"spot": group}
        notifier(cluster, dynamodb).handle(LOOK)
    assert cluster.told == told


def test_a_message_of_a_node_group_says_what_eks_says_and_what_to_do(dynamodb: object) -> None:
    cluster = Cluster(node_groups={"spot": _SHORT})
    notifier(cluster, dynamodb).handle(LOOK)
    [sent] = cluster.sent
    assert sent["Subject"] == "HyperPod ml-cluster: EKS node group spot is degraded: Spot"
    text = json.loads(sent["Message"])["default"]
    assert "What happened: AsgInstanceLaunchFailures: Could not launch Spot Instances." in text
    assert "What to do: Name more types in instance_types" in text
    assert "hyperpod-ops status --cluster ml-cluster --region us-west-2" in text
