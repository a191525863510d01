"""The provisioner's calls against moto's SageMaker as well as the rehearsal's HyperPod API.

Both were written from the same documentation, by different people. Each difference is a row of a
table with its explanation, so that one that is new, or gone, is seen.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from moto.backends import get_backend
from moto.core.botocore_stubber import BotocoreStubber

from hyperpod_emulator.hyperpod import ApiError, Caller, HyperPodService
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import CLASSIC, hyperpod_stack

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


# boto3 makes a client's methods at run time, so there is no static type with the operations.
SageMakerClient = Any
# What moto raises, instead of an answer: at a value that it does not know, and at an operation.
MOTO_TRIPS = (AttributeError, KeyError)

FIRST_MEMBERS = "moto has the members of HyperPod's first release; botocore's response has it."
NOT_KEPT = "moto keeps a cluster's groups, network and tags alone; botocore's response has it."
AT_ONCE = "moto's nodes are there at once, so that nothing is under way."
ALWAYS = "moto always gives a text; botocore does not require the member."
MEMBERS = {
    "moto lacks DescribeCluster.InstanceGroups[].ActiveOperations.Scaling": AT_ONCE,
    "moto lacks DescribeCluster.InstanceGroups[].CurrentImageId": FIRST_MEMBERS,
    "moto lacks DescribeCluster.InstanceGroups[].CurrentImageReleaseVersion": FIRST_MEMBERS,
    "moto lacks DescribeCluster.InstanceGroups[].DesiredImageId": FIRST_MEMBERS,
    "moto lacks DescribeCluster.InstanceGroups[].DesiredImageReleaseVersion": FIRST_MEMBERS,
    "moto lacks DescribeCluster.InstanceGroups[].ImageVersionStatus": FIRST_MEMBERS,
    "moto lacks DescribeCluster.InstanceGroups[].Status": FIRST_MEMBERS,
    "moto lacks DescribeCluster.NodeRecovery": NOT_KEPT,
    "moto lacks DescribeCluster.Orchestrator.Eks.ClusterArn": NOT_KEPT,
    "moto lacks ListClusterNodes.ClusterNodeSummaries[].CurrentImageReleaseVersion": FIRST_MEMBERS,
    "moto lacks ListClusterNodes.ClusterNodeSummaries[].ImageVersionStatus": FIRST_MEMBERS,
    "moto lacks ListClusterNodes.ClusterNodeSummaries[].PrivateDnsHostname": FIRST_MEMBERS,
    "only moto has DescribeCluster.FailureMessage": ALWAYS,
    "only moto has ListClusterNodes.ClusterNodeSummaries[].InstanceStatus.Message": ALWAYS,
}
"""What is in one implementation's answers alone, from a creation to a deletion."""


@dataclass
class Recorded:
    """A client that notes which members each operation answers with.

    Attributes:
        client: The client.
        members: Paths of the members, such as `DescribeCluster.InstanceGroups[].Status`.
    """

    client: SageMakerClient
    members: set[str] = field(default_factory=set)

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the client's method."""
        operation = "".join(part.capitalize() for part in method.split("_"))

        def call(**request: object) -> Mapping[str, Any]:
            try:
                answer: dict[str, Any] = getattr(self.client, method)(**request)
            except (*MOTO_TRIPS, RuntimeError) as raised:
                raise client_error("InternalFailure", operation, repr(raised)) from raised
            answer.pop("ResponseMetadata", None)
            self.members.update(leaves(answer, operation))
            return answer

        return call


def leaves(value: object, path: str) -> Iterator[str]:
    """Yield the path of each member that has no members of its own."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}")
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, f"{path}[]")
    else:
        yield path


@pytest.fixture
def moto() -> Iterator[SageMakerClient]:
    """A client that moto answers; `mock_aws` would have it answer every client of the process."""
    client, answer = boto3_client(), BotocoreStubber()
    answer.enabled = True
    client.meta.events.register("before-send.sagemaker", answer)
    yield client
    get_backend("sagemaker").reset()


def lives(client: Recorded, time: Time) -> None:
    """Create a cluster, give it another tag and delete it, through the provisioner."""
    stack = hyperpod_stack(client, time)
    assert stack.create(CLASSIC).data["ClusterStatus"] == "InService"
    tagged = {**json.loads(CLASSIC["Request"]), "Tags": [{"Key": "other", "Value": "1"}]}
    assert stack.update({**CLASSIC, "Request": json.dumps(tagged)}).data["Shortage"] == "none"
    assert stack.delete().complete


def test_members_differ_as_explained(moto: SageMakerClient, time: Time) -> None:
    ours = Recorded(in_process_client(HyperPodService(clock=lambda: time.now)))
    theirs = Recorded(moto)
    for client in (ours, theirs):
        lives(client, time)

    found = {f"moto lacks {member}" for member in ours.members - theirs.members}
    found |= {f"only moto has {member}" for member in theirs.members - ours.members}
    assert found == MEMBERS.keys()
