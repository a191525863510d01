"""Which nodes an archive's groups have, and which end."""

from collections.abc import Mapping
from typing import Any

import boto3
import botocore.client
import pytest

from hyperpod_cli.operate.clusters import Node
from rehearsal.change.nodes import ending, set_counts
from tests.support.archives import REGION, archive_with


def described(*counts: int) -> dict[str, Any]:
    groups = [
        {"InstanceGroupName": name, "TargetCount": count, "InstanceType": "ml.m5.large"}
        for name, count in zip("ab", counts, strict=False)
    ]
    return {"ClusterName": "ml-cluster", "InstanceGroups": groups}


@pytest.mark.parametrize(
    ("archived", "told", "asked"),
    [
        (described(1, 2), [], None),
        # A group that the archive alone has was made by hand, and is not here.
        (described(1), [], None),
        (described(1, 300), ["group b has 300 nodes, not 2"], [1, 300]),
        (None, [], None),
    ],
)
def test_groups_get_the_nodes_that_they_have(
    monkeypatch: pytest.MonkeyPatch,
    archived: dict[str, Any] | None,
    told: list[str],
    asked: list[int] | None,
) -> None:
    updated: list[Mapping[str, Any]] = []

    def answer(_client: object, operation: str, request: Mapping[str, Any]) -> object:
        if operation == "UpdateCluster":
            updated.append(request)
        return described(1, 2)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answer)
    sagemaker = boto3.client("sagemaker", region_name=REGION)

    assert [*set_counts(lambda _: sagemaker, archive_with(cluster=archived))] == told
    counts = [[group["InstanceCount"] for group in each["InstanceGroups"]] for each in updated]
    assert counts == ([] if asked is None else [asked])


def node(group: str, number: int) -> Node:
    return Node(
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
