"""An answer that is not as in botocore's model fails the test that gets it."""

import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from hyperpod_emulator.testing.answers import check_answers

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
RIGHT = {"ClusterArn": ARN, "ClusterStatus": "InService", "InstanceGroups": []}
LACKING = {"ClusterArn": ARN, "InstanceGroups": []}


class Body(io.BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def answered(content: dict[str, Any]) -> Any:  # noqa: ANN401 - a client
    """Return a checked client that gets this answer to whatever it asks."""

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        return AWSResponse(request.url, 200, HTTPHeaders(), Body(json.dumps(content).encode()))

    client = boto3.client(
        "sagemaker",
        region_name="us-west-2",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106 - no such secret
    )
    client.meta.events.register("before-send.sagemaker", answer)
    check_answers(client)
    return client


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (LACKING, "'clusterStatus' failed to satisfy constraint: Member must not be null"),
        ({**RIGHT, "ClusterStatus": "Ready"}, "Member must satisfy enum value set"),
        ({**RIGHT, "InstanceGroups": [{"CurrentCount": "1"}]}, "Member must be of type integer"),
        ({**RIGHT, "Region": "us-west-2"}, "unknown member region"),
    ],
)
def test_an_answer_that_the_model_does_not_have(content: dict[str, Any], reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        answered(content).describe_cluster(ClusterName="c")


def test_an_answer_of_the_model() -> None:
    assert answered(RIGHT).describe_cluster(ClusterName="c")["ClusterArn"] == ARN
