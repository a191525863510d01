"""boto3's SageMaker client on the rehearsal's HyperPod service, without a network."""

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any, cast

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from emulator.hyperpod import ApiError, Caller, HyperPodService

REGION = "us-west-2"


class _Body(BytesIO):
    """The part of urllib3's response that botocore reads."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def boto3_client() -> Any:  # noqa: ANN401 - a client
    """Return a client of SageMaker; who answers is the caller's affair."""
    return boto3.client(
        "sagemaker",
        region_name=REGION,
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106 - no such secret
    )


def in_process_client(service: HyperPodService) -> Any:  # noqa: ANN401 - a client
    """Return a client whose requests the service answers, written and read by botocore."""

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        operation = cast(bytes, request.headers["X-Amz-Target"]).decode().removeprefix("SageMaker.")
        members = json.loads(cast(bytes, request.body))
        try:
            status, content = 200, service.call(operation, members, Caller())
        except ApiError as error:
            status, content = error.status, {"__type": error.code, "message": error.message}
        headers = HTTPHeaders()
        headers["Content-Type"] = "application/x-amz-json-1.1"
        return AWSResponse(request.url, status, headers, _Body(json.dumps(content).encode()))

    client = boto3_client()
    client.meta.events.register("before-send.sagemaker", answer)
    return client
