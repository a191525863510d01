"""Which instances of EKS node groups are there, as nodes of the Kubernetes cluster."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hyperpod_emulator.kubernetes import InProcessControlPlane
from hyperpod_emulator.node.managed_nodes import ManagedNodes
from hyperpod_emulator.node.registries import RegistriesOfSubnets

Group = dict[str, Any]
GROUP: Group = {
    "nodegroupName": "a",
    "nodegroupArn": "arn:aws:eks:us-west-2:111122223333:nodegroup/ml/a/1",
    "subnets": ["subnet-1"],
    "instanceTypes": ["c5.2xlarge"],
    "capacityType": "ON_DEMAND",
    "labels": {},
    "taints": [],
    "health": {"issues": []},
    "scalingConfig": {"desiredSize": 2},
    "launchTemplate": {"id": "lt-1", "version": "1"},
    "releaseVersion": "1.34.1-20251001",
    "version": "1.34",
}
SUBNET = {
    "SubnetId": "subnet-1",
    "CidrBlock": "10.1.0.0/16",
    "AvailabilityZone": "us-west-2a",
    "AvailabilityZoneId": "usw2-az1",
}
TEMPLATES: Group = {"LaunchTemplateVersions": [{"LaunchTemplateData": {}}]}


def clients(group: Group) -> Callable[[str], Any]:
    """Return clients of an account with one group."""
    eks = SimpleNamespace(
        list_nodegroups=lambda **_: {"nodegroups": ["a"]},
        describe_nodegroup=lambda **_: {"nodegroup": group},
    )
    ec2 = SimpleNamespace(
        describe_subnets=lambda **_: {"Subnets": [SUBNET]},
        describe_launch_template_versions=lambda **_: TEMPLATES,
    )
    return {"eks": eks, "ec2": ec2}.__getitem__


def names(kubernetes: InProcessControlPlane) -> set[str]:
    return {each["metadata"]["name"] for each in kubernetes.objects("v1", "Node")}


def test_nodes_pull_from_what_their_subnet_reached_when_they_joined() -> None:
    kubernetes = InProcessControlPlane(kubernetes_version="1.34")
    asked: list[str] = []

    def pull_error(subnet_id: str) -> Callable[[str], str]:
        asked.append(subnet_id)
        return "ErrImagePull: {}".format

    registries = cast("RegistriesOfSubnets", SimpleNamespace(pull_error=pull_error))
    nodes = ManagedNodes(clients({**GROUP}), kubernetes, "ml", registries=registries)
    nodes.reconcile()
    nodes.reconcile()
    kubernetes.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {
                    "metadata": {"labels": {"app": "agent"}},
                    "spec": {"containers": [{"name": "agent", "image": "agent:1"}]},
                },
            },
        }
    )

    pods = kubernetes.objects("v1", "Pod")
    assert [each["status"]["phase"] for each in pods] == ["Pending"] * 2
    assert asked == [SUBNET["SubnetId"]] * 2


@pytest.mark.parametrize(
    ("change", "stay"),
    [
        ({"launchTemplate": {"id": "lt-1", "version": "2"}}, 0),
        ({"releaseVersion": "1.34.2-20251112"}, 0),
        ({"version": "1.35"}, 0),
        ({"scalingConfig": {"desiredSize": 3}}, 2),
        ({"scalingConfig": {"desiredSize": 1}}, 1),
        ({"labels": {"team": "a"}}, 2),
    ],
)
def test_a_change_leaves_the_nodes_that_eks_does_not_replace(
    change: Mapping[str, Any], stay: int
) -> None:
    group = {**GROUP}
    kubernetes = InProcessControlPlane(kubernetes_version="1.34")
    nodes = ManagedNodes(clients(group), kubernetes, "ml")
    nodes.reconcile()
    before = names(kubernetes)
    group |= change
    nodes.reconcile()
    after = names(kubernetes)
    assert (len(before), len(before & after)) == (2, stay)
    assert len(after) == group["scalingConfig"]["desiredSize"]
