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
from botocore.exceptions import ClientError
from moto.backends import get_backend
from moto.core.botocore_stubber import BotocoreStubber

from emulator.hyperpod import ApiError, Caller, HyperPodService
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import CLASSIC, group, hyperpod_stack, properties

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
MOTO_LACKS_IT = "moto lacks the operation"

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

UNKNOWN = {"ClusterName": "unknown"}
UNKNOWN_CLUSTER = (
    "botocore declares ResourceNotFound; moto answers as older operations of SageMaker do. The "
    "provisioner takes both."
)
NO_ORCHESTRATORS = "moto does not look at the orchestrator."
NOT_REQUIRED = "moto needs it; botocore does not require the member."
UNKNOWN_TO_MOTO = "moto does not have the operation; the rehearsal and botocore do."


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


def outcome(client: SageMakerClient, method: str, request: Mapping[str, Any]) -> str:
    """Return the error's code, what moto does instead of an answer, or `accepted`."""
    try:
        getattr(client, method)(**request)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    except MOTO_TRIPS as raised:
        return f"moto raises {type(raised).__name__}"
    except RuntimeError:
        return MOTO_LACKS_IT
    return "accepted"


def creation(name: str, eks: str | None = None, **of_group: Any) -> dict[str, Any]:
    """Return CreateCluster's input, with an EKS cluster of its own unless one is named."""
    arn = f"arn:aws:eks:us-west-2:111122223333:cluster/{eks or name}"
    workers = {key: value for key, value in group("w", **of_group).items() if value is not None}
    wanted = properties(workers, name=name, Orchestrator={"Eks": {"ClusterArn": arn}})
    request: dict[str, Any] = json.loads(wanted["Request"])
    return request


def without_network(name: str) -> dict[str, Any]:
    request = creation(name)
    del request["VpcConfig"]
    return request


ACCEPTED, CONFLICT, INVALID = "accepted", "ConflictException", "ValidationException"
NOT_FOUND, IN_USE = "ResourceNotFound", "ResourceInUse"
WORKERS = [group("w")]
OWN_BUCKET = {"SourceS3Uri": "s3://mine", "OnCreate": "on_create.sh"}
UNKNOWN_ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/unknown12345"

CREATIONS: dict[str, tuple[Mapping[str, Any], str, str, str]] = {
    "a name that is taken": (creation("theirs", eks="other"), IN_USE, IN_USE, ""),
    "an instance type that there is not": (
        creation("type", InstanceType="ml.m5.huge"),
        INVALID,
        INVALID,
        "",
    ),
    "a second cluster on an EKS cluster": (
        creation("second", eks="theirs"),
        INVALID,
        ACCEPTED,
        NO_ORCHESTRATORS,
    ),
    "EKS without a network": (without_network("network"), INVALID, ACCEPTED, NO_ORCHESTRATORS),
    "a name with an underscore": (
        creation("under_score"),
        INVALID,
        ACCEPTED,
        "moto does not look at patterns; botocore's model has one.",
    ),
    "a bucket of another prefix": (
        creation("bucket", LifeCycleConfig=OWN_BUCKET),
        ACCEPTED,
        INVALID,
        "botocore's pattern takes any bucket. Its reason for the prefix sagemaker- is that the "
        "managed policy reads no other; an existing role may.",
    ),
    "no lifecycle script": (
        creation("script", LifeCycleConfig=None),
        ACCEPTED,
        "moto raises KeyError",
        NOT_REQUIRED,
    ),
    "no threads per core": (
        creation("threads", ThreadsPerCore=None),
        ACCEPTED,
        "moto raises KeyError",
        NOT_REQUIRED,
    ),
}
OUTCOMES: dict[str, tuple[str, Mapping[str, Any], str, str, str]] = {
    **{name: ("create_cluster", *case) for name, case in CREATIONS.items()},
    "describe nothing": ("describe_cluster", UNKNOWN, NOT_FOUND, INVALID, UNKNOWN_CLUSTER),
    "list nodes of nothing": ("list_cluster_nodes", UNKNOWN, NOT_FOUND, INVALID, UNKNOWN_CLUSTER),
    "delete nothing": ("delete_cluster", UNKNOWN, NOT_FOUND, INVALID, UNKNOWN_CLUSTER),
    "tags of nothing": (
        "list_tags",
        {"ResourceArn": UNKNOWN_ARN},
        NOT_FOUND,
        "moto raises AttributeError",
        "moto takes it that the resource is there.",
    ),
    "update at once": (
        "update_cluster",
        {"ClusterName": "theirs", "InstanceGroups": WORKERS},
        CONFLICT,
        MOTO_LACKS_IT,
        UNKNOWN_TO_MOTO,
    ),
    "other software": (
        "update_cluster_software",
        {"ClusterName": "theirs"},
        CONFLICT,
        MOTO_LACKS_IT,
        UNKNOWN_TO_MOTO,
    ),
    "events": (
        "list_cluster_events",
        {"ClusterName": "theirs"},
        ACCEPTED,
        MOTO_LACKS_IT,
        UNKNOWN_TO_MOTO,
    ),
    "delete at once": (
        "delete_cluster",
        {"ClusterName": "theirs"},
        CONFLICT,
        ACCEPTED,
        "moto's clusters are InService at once.",
    ),
}
"""Calls just after a cluster `theirs` is created: what they end with in the rehearsal, in moto, and
why they differ."""


def test_outcomes_differ_as_explained(moto: SageMakerClient, time: Time) -> None:
    ours = in_process_client(HyperPodService(clock=lambda: time.now))
    for client in (ours, moto):
        client.create_cluster(**creation("theirs"))

    for name, (method, request, *expected, why) in OUTCOMES.items():
        found = [outcome(client, method, request) for client in (ours, moto)]
        assert (name, found) == (name, expected)
        assert bool(why) == (found[0] != found[1]), name
