"""Whether the node groups are as EKS and Kubernetes should have them."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.verification.subjects.eks.node_groups import node_groups
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.cli.inspect.verification.conftest import Deployed
from tests.support.configs import configured

GROUP = {"name": "gpu", "instance_types": ["p4d.24xlarge"], "desired_size": 1, "max_size": 4}
CONFIG = configured({"cluster": None, "node_groups": [GROUP]})
FULL = {
    "code": "AsgInstanceLaunchFailures",
    "message": "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently "
    "do not have sufficient p4d.24xlarge capacity. Launching EC2 instance failed.",
    "resourceIds": ["eks-gpu"],
}


def described(
    *, status: str = "ACTIVE", desired: int = 2, issues: tuple[Any, ...] = ()
) -> Callable[..., dict[str, Any]]:
    """Return a DescribeNodegroup of a group to which an autoscaler has given another size."""
    scaling = {"minSize": 0, "desiredSize": desired, "maxSize": 4}
    group = {"status": status, "scalingConfig": scaling, "health": {"issues": [*issues]}}

    def describe_nodegroup(**asked: str) -> dict[str, Any]:
        assert asked == {"clusterName": CONFIG.eks_cluster_name, "nodegroupName": "gpu"}
        return {"nodegroup": group}

    return describe_nodegroup


def join(kubernetes: KubernetesApi, *names: str, group: str = "gpu") -> None:
    for name in names:
        labels = {"eks.amazonaws.com/nodegroup": group}
        kubernetes.put_node(name, instance_type="p4d.24xlarge", labels=labels)


def test_groups_with_their_nodes_hold(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    join(kubernetes, "n0", "n1")
    join(kubernetes, "x", group="others")
    checks = [*node_groups(deployed(CONFIG, eks={"describe_nodegroup": described()}))]
    assert [each.ok for each in checks] == [True, True]


@pytest.mark.parametrize(
    ("joined", "silent", "found"),
    [(["n0"], [], "1 of 1"), (["n0", "n1"], ["n1"], "1 of 2"), (["n0", "n1", "n2"], [], "3 of 3")],
)
def test_nodes_that_are_not_there_or_ready(
    deployed: Deployed, kubernetes: KubernetesApi, joined: list[str], silent: list[str], found: str
) -> None:
    join(kubernetes, *joined)
    for name in silent:
        kubernetes.silence_node(name)
    active, nodes = node_groups(deployed(CONFIG, eks={"describe_nodegroup": described()}))
    assert (active.ok, nodes.ok, nodes.found) == (True, False, found)


def test_an_issue_of_eks_comes_with_the_next_step_of_its_cause(
    deployed: Deployed, snapshot: SnapshotAssertion
) -> None:
    eks = {"describe_nodegroup": described(status="DEGRADED", desired=0, issues=(FULL,))}
    active, nodes = node_groups(deployed(CONFIG, eks=eks))
    assert active == snapshot
    assert nodes.ok


def test_a_group_that_others_have_deleted(deployed: Deployed, snapshot: SnapshotAssertion) -> None:
    def describe_nodegroup(**_asked: str) -> None:
        raise ClientError(
            {"Error": {"Code": "ResourceNotFoundException", "Message": "no"}}, "DescribeNodegroup"
        )

    eks = {"describe_nodegroup": describe_nodegroup}
    (check,) = node_groups(deployed(CONFIG, eks=eks))
    assert check == snapshot
