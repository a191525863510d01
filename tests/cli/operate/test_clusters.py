"""HyperPod clusters: the nodes of one, and those that stacks made."""

from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from hyperpod_cli.operate.clusters import (
    ListedCluster,
    NoClusterError,
    chosen_cluster,
    find_cluster,
    own_clusters,
)
from tests.conftest import Raises
from tests.support.configs import CONFIG_FOLDER

FILE = CONFIG_FOLDER / "p5-training.yaml"


@pytest.mark.parametrize(
    ("cluster", "region", "options"),
    [(None, None, str(FILE)), ("a", "us-east-1", "--cluster a --region us-east-1")],
)
def test_a_next_step_has_the_options_that_were_given(
    cluster: str | None, region: str | None, options: str
) -> None:
    chosen = chosen_cluster(FILE, cluster=cluster, region=region)
    assert chosen.command("status") == f"hyperpod-cdk status {options}"


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


def test_only_clusters_that_stacks_made_are_listed(sagemaker: Any) -> None:  # noqa: ANN401
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


def test_what_may_not_be_read_is_passed_over(sagemaker: Any) -> None:  # noqa: ANN401
    with Stubber(sagemaker) as stub:
        summaries = [summary(number) for number in "012"]
        stub.add_response("list_clusters", {"ClusterSummaries": summaries})
        stub.add_client_error("list_tags", "AccessDeniedException")
        stub.add_client_error("list_tags", "ResourceNotFound")
        stub.add_response("list_tags", tags(("hyperpod-cdk:stack-id", STACK)))
        assert [each.name for each in own_clusters(sagemaker)] == ["c2"]


def test_who_may_read_nothing_is_told(sagemaker: Any) -> None:  # noqa: ANN401
    with Stubber(sagemaker) as stub:
        stub.add_response("list_clusters", {"ClusterSummaries": [summary("0")]})
        stub.add_client_error("list_tags", "AccessDeniedException")
        with pytest.raises(ClientError, match="AccessDenied"):
            own_clusters(sagemaker)


@pytest.mark.parametrize("denied", ["", "list_clusters", "list_tags"])
def test_no_such_cluster_is_told_to_who_may_not_list(
    sagemaker: BaseClient, denied: str, raises: Raises
) -> None:
    with Stubber(sagemaker) as stub:
        stub.add_client_error("describe_cluster", "ResourceNotFound")
        if denied != "list_clusters":
            summaries = [summary("0")] if denied else []
            stub.add_response("list_clusters", {"ClusterSummaries": summaries})
        if denied:
            stub.add_client_error(denied, "AccessDeniedException")
        with raises(NoClusterError):
            find_cluster(sagemaker, "x", deployed_by="hyperpod-cdk deploy")
