"""Which nodes an archive's groups have, and which end."""

from collections.abc import Mapping
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.archive.deployment import ArchivedNode
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL
from hyperpod_emulator.kubernetes import InProcessControlPlane
from hyperpod_rehearsal.change.nodes import ending, scale, set_counts
from tests.support.archives import REGION, archive_with


@pytest.fixture
def kubernetes() -> InProcessControlPlane:
    return InProcessControlPlane(kubernetes_version="1.34")


def local(service: str) -> BaseClient:
    session: Any = boto3.Session(region_name=REGION)
    client: BaseClient = session.client(service)
    return client


def described(*counts: int) -> dict[str, Any]:
    groups = [
        {"InstanceGroupName": name, "TargetCount": count, "InstanceType": "ml.m5.large"}
        for name, count in zip("ab", counts, strict=False)
    ]
    return {"ClusterName": "ml-cluster", "InstanceGroups": groups}


@pytest.mark.parametrize(
    ("archived", "asked"),
    [
        (described(1, 2), None),
        # A group that the archive alone has was made by hand, and is not here.
        (described(1), None),
        (described(1, 300), [1, 300]),
        (None, None),
    ],
)
def test_groups_get_the_nodes_that_they_have(
    monkeypatch: pytest.MonkeyPatch,
    archived: dict[str, Any] | None,
    asked: list[int] | None,
    kubernetes: InProcessControlPlane,
    snapshot: SnapshotAssertion,
) -> None:
    updated: list[Mapping[str, Any]] = []

    def answer(_client: object, operation: str, request: Mapping[str, Any]) -> object:
        if operation == "UpdateCluster":
            updated.append(request)
        return described(1, 2)

    monkeypatch.setattr(BaseClient, "_make_api_call", answer)

    archive = archive_with(cluster=archived)
    assert [*set_counts(local, kubernetes, archive=archive)] == snapshot
    counts = [[group["InstanceCount"] for group in each["InstanceGroups"]] for each in updated]
    assert counts == ([] if asked is None else [asked])


def sized(size: int, name: str = "gpu") -> dict[str, Any]:
    scaling = {"minSize": 0, "maxSize": 4, "desiredSize": size}
    return {"clusterName": "ml", "nodegroupName": name, "scalingConfig": scaling}


@pytest.mark.parametrize(
    ("archived", "joined", "asked"),
    [
        (sized(3), 3, [3]),
        (sized(0), 0, []),
        (sized(0), 1, []),
        # Others have made it, and it is not here.
        (sized(3, "theirs"), 3, []),
    ],
)
def test_node_groups_get_the_size_that_they_have(
    monkeypatch: pytest.MonkeyPatch,
    kubernetes: InProcessControlPlane,
    *,
    archived: dict[str, Any],
    joined: int,
    asked: list[int],
    snapshot: SnapshotAssertion,
) -> None:
    updated: list[int] = []

    def answer(_client: object, operation: str, request: Mapping[str, Any]) -> object:
        if request["nodegroupName"] != "gpu":
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, operation)
        if operation == "UpdateNodegroupConfig":
            updated.append(request["scalingConfig"]["desiredSize"])
            for number in range(updated[-1]):
                labels = {NODE_GROUP_LABEL: "gpu"}
                kubernetes.put_node(f"n{number}", instance_type="p4d.24xlarge", labels=labels)
        return {"nodegroup": sized(0)}

    monkeypatch.setattr(BaseClient, "_make_api_call", answer)
    there = tuple(
        ArchivedNode(id=f"n{i}", group="gpu", instance_type="p4d.24xlarge", status="Ready")
        for i in range(joined)
    )
    archive = archive_with(node_groups=(archived,), nodes=there)
    assert [*set_counts(local, kubernetes, archive=archive)] == snapshot
    assert updated == asked


def test_nodes_of_an_eks_node_group_are_known_as_such() -> None:
    archive = archive_with(node_groups=(sized(2),))
    (found,) = ending([node("gpu", 1), node("gpu", 2)], [node("gpu", 1)], archive=archive)
    assert found.is_managed


def node(group: str, number: int) -> ClusterNode:
    return ClusterNode(
        id=f"i-{number}", group=group, instance_type="ml.m5.large", status="Running", message=""
    )


def test_nodes_that_are_others_than_before_end() -> None:
    before = [node("workers", 1), node("workers", 2), node("a", 3)]
    after = [node("workers", 2), node("workers", 4), node("a", 3), node("new", 5)]
    found = ending(before, after, archive=archive_with())
    assert [(each.group, each.ends, each.added, len(each.nodes)) for each in found] == [
        ("new", 0, 1, 0),
        ("workers", 1, 1, 1),
    ]


def test_labels_and_types_are_asked_for_as_they_are_described(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A description has those of today and those to come, a request has one of each."""
    group = {
        **described(1)["InstanceGroups"][0],
        "KubernetesConfig": {"CurrentLabels": {"a": "b"}, "DesiredLabels": {"a": "c"}},
        "InstanceRequirements": {"DesiredInstanceTypes": ["ml.g5.xlarge"]},
    }
    updated: list[Mapping[str, Any]] = []
    client = local("sagemaker")
    monkeypatch.setattr(client, "update_cluster", lambda **request: updated.append(request))

    scale(client, {"ClusterName": "ml-cluster", "InstanceGroups": [group]}, {"a": 2})

    (asked,) = updated[0]["InstanceGroups"]
    assert asked["InstanceCount"] == 2
    assert asked["KubernetesConfig"] == {"Labels": {"a": "c"}}
    assert asked["InstanceRequirements"] == {"InstanceTypes": ["ml.g5.xlarge"]}
