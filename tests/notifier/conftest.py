"""The table in which the function remembers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws


def mail(sent: Mapping[str, Any]) -> str:
    """Return what a person reads of a message: its subject, and its text."""
    return f"{sent['Subject']}\n\n{json.loads(sent['Message'])['default']}"


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client, with the table."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    keys = {"cluster_arn": "HASH", "fault": "RANGE"}
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-west-2")
        client.create_table(
            TableName="told",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client
