"""A cluster that is not there."""

from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from hyperpod_cli.operate.clusters import NoClusterError, chosen_cluster, find_cluster
from tests.support.configs import CONFIG_FOLDER


@pytest.fixture
def sagemaker(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a client
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return boto3.client("sagemaker", "us-west-2")


@pytest.mark.parametrize(
    ("may_list", "told"),
    [
        (True, "cluster: 'x' is not in us-west-2, where stacks have made: none; run `make"),
        (
            False,
            "cluster: 'x' is not in us-west-2, where stacks have made: what you may not list; run",
        ),
    ],
)
def test_it_is_told_whether_or_not_others_may_be_listed(
    sagemaker: Any,  # noqa: ANN401
    may_list: bool,
    told: str,
) -> None:
    with Stubber(sagemaker) as stub, pytest.raises(NoClusterError) as raised:
        stub.add_client_error("describe_cluster", "ResourceNotFound")
        if may_list:
            stub.add_response("list_clusters", {"ClusterSummaries": []})
        else:
            stub.add_client_error("list_clusters", "AccessDeniedException")
        find_cluster(sagemaker, "x", deployed_by="make deploy")
    assert str(raised.value).startswith(told)


@pytest.mark.parametrize(
    ("file", "cluster", "region", "told"),
    [
        ("p5-training.yaml", None, None, "hyperpod-ops status --config {file}"),
        (
            "p5-training.yaml",
            "a",
            "us-east-1",
            "hyperpod-ops status --cluster a --region us-east-1",
        ),
    ],
)
def test_a_next_step_has_the_options_that_were_given(
    file: str, cluster: str | None, region: str | None, told: str
) -> None:
    path = Path(CONFIG_FOLDER / file)
    chosen = chosen_cluster(
        path, cluster=cluster, region=region or "us-west-2" if cluster else None
    )
    assert chosen.command("status") == told.format(file=path)
