"""Accounts that answer what tests say; one has metrics, whose workspace is a server of the test."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import botocore.client
import pytest

from tests.support.commands import ran
from tests.support.configs import REPOSITORY

REGION = "us-west-2"


def deployed_with_metrics(
    monkeypatch: pytest.MonkeyPatch, *, endpoint: str | None, cluster_id: str
) -> None:
    """Let AWS answer what a command asks for to find the metrics of a cluster.

    Args:
        monkeypatch: Of the test.
        endpoint: The workspace's URL; None for a deployment without.
        cluster_id: What the metrics call the cluster.
    """
    outputs = [{"OutputKey": "PrometheusWorkspaceArn", "OutputValue": "x"}]
    if endpoint is not None:
        outputs.append({"OutputKey": "PrometheusEndpoint", "OutputValue": f"{endpoint}/"})
    arn = f"arn:aws:sagemaker:{REGION}:111122223333:cluster/{cluster_id}"
    answers: Mapping[str, Any] = {
        "DescribeStacks": {"Stacks": [{"Outputs": outputs}]},
        "DescribeCluster": {"ClusterName": "measured-cluster", "ClusterArn": arn},
    }
    answering(monkeypatch, answers)


def answering(monkeypatch: pytest.MonkeyPatch, answers: Mapping[str, Any]) -> None:
    """Let AWS answer operations, by their names, and refuse nobody.

    Args:
        monkeypatch: Of the test.
        answers: What each operation answers.
    """

    def answer(_client: object, operation: str, _asked: object) -> object:
        return answers[operation]

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answer)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "example")
    monkeypatch.setenv("COLUMNS", "200")


def refused(*options: str, config: Path) -> str:
    """Let `cost` refuse options in one line; return it without places of this machine."""
    code, out, err = ran("cost", *options, "--config", config)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", err.replace(f"{REPOSITORY}", "PROJECT"))
