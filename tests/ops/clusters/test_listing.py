"""Which clusters are of deployments."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from hyperpod_ops.clusters.listing import ListedCluster, own_clusters

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijk"
STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack/ml-hyperpod/1-2"


def summary(name: str) -> dict[str, Any]:
    return {
        "ClusterArn": f"{ARN}{name}",
        "ClusterName": f"c{name}",
        "ClusterStatus": "InService",
        "CreationTime": 0,
    }


def tags(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"Tags": [{"Key": key, "Value": value} for key, value in pairs]}


def test_only_clusters_that_stacks_made_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    sagemaker = boto3.client("sagemaker", "us-west-2")
    with Stubber(sagemaker) as stub:
        summaries = [summary("2"), summary("1"), summary("0")]
        stub.add_response("list_clusters", {"ClusterSummaries": summaries})
        stub.add_response("list_tags", tags(("team", "a"), ("hyperpod-cdk:stack-id", STACK)))
        stub.add_response("list_tags", tags(("aws:cloudformation:stack-id", STACK)))
        stub.add_response("list_tags", tags(("team", "a")))

        found = own_clusters(sagemaker)

    assert found == [
        ListedCluster(name=name, status="InService", stack="ml-hyperpod") for name in ("c1", "c2")
    ]
