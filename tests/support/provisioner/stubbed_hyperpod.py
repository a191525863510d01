"""Answers of SageMaker for one cluster, as botocore's Stubber checks them against the model."""

import datetime
import json
from typing import Any

from botocore.stub import Stubber

from provisioner.hyperpod.claim import Claim, properties_key
from tests.support.provisioner.cloudformation import FUNCTION_ARN, STACK_ID, Time

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
OWNER_TAGS = [
    {"Key": "hyperpod-cdk:stack-id", "Value": STACK_ID},
    {"Key": "hyperpod-cdk:logical-id", "Value": "Resource"},
]


WORKED = {"Key": "hyperpod-cdk:creation", "Value": "succeeded"}
FAILED = {"Key": "hyperpod-cdk:creation", "Value": "failed"}
GROUP = {
    "InstanceGroupName": "workers",
    "InstanceCount": 1,
    "InstanceType": "ml.g5.12xlarge",
    "ExecutionRole": "arn:aws:iam::111122223333:role/execution",
    "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    "OnStartDeepHealthChecks": ["InstanceStress"],
}
REQUEST: dict[str, Any] = {
    "ClusterName": "ml-cluster",
    "InstanceGroups": [GROUP],
    "NodeProvisioningMode": "Continuous",
}
NAME = {"ClusterName": "ml-cluster"}
BY_ARN = {"ClusterArn": ARN}
EVENT_ID = "01234567-89ab-cdef-0123-456789abcdef"


def properties(**change: object) -> dict[str, str]:
    return {**NAME, "Request": json.dumps({**REQUEST, **change})}


def claim(
    number: int,
    *,
    last_call: str = "",
    over: Claim | None = None,
    asks: dict[str, str] | None = None,
) -> Claim:
    """Return the claim of the stack's request of that number; the first one waits once."""
    now = Time().now + 30 * (number - 1)
    asked = properties_key({"ServiceToken": FUNCTION_ARN, **(asks or properties())})
    made = Claim.of(f"{STACK_ID}/{number}", started_at=now, asks=asked).over(over)
    return made.after_call(last_call, now=now) if last_call else made


def claimed(made: Claim) -> list[dict[str, str]]:
    """Return the provisioner's tags with a claim."""
    return [*OWNER_TAGS, {"Key": "hyperpod-cdk:request", "Value": str(made)}]


CREATED = claim(1, last_call="create")


def described(
    stubber: Stubber, status: str, *, tags: list[dict[str, str]] | None = None, **more: object
) -> None:
    answer = {"ClusterArn": ARN, **NAME, "ClusterStatus": status, "InstanceGroups": [], **more}
    stubber.add_response("describe_cluster", answer, NAME)
    listed = claimed(CREATED) if tags is None else tags
    stubber.add_response("list_tags", {"Tags": listed}, {"ResourceArn": ARN})


def not_there(stubber: Stubber) -> None:
    stubber.add_client_error("describe_cluster", "ResourceNotFound", "gone", expected_params=NAME)


def tagged(stubber: Stubber, *tags: dict[str, str]) -> None:
    sent = {"ResourceArn": ARN, "Tags": list(tags)}
    stubber.add_response("add_tags", {"Tags": list(tags)}, sent)


def create_call(stubber: Stubber) -> None:
    not_there(stubber)
    sent = {**REQUEST, "Tags": claimed(CREATED)}
    stubber.add_response("create_cluster", {"ClusterArn": ARN}, sent)


def created(stubber: Stubber) -> None:
    create_call(stubber)
    described(stubber, "Creating")
    described(stubber, "InService")
    tagged(stubber, WORKED)


def delete_call(stubber: Stubber) -> list[dict[str, str]]:
    """Expect what the stack's second request says and does before DeleteCluster answers.

    Returns:
        The tags of the cluster from then on.
    """
    deleted = claimed(claim(2, over=CREATED, last_call="delete"))
    described(stubber, "InService")
    tagged(stubber, *claimed(claim(2, over=CREATED)))
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)
    tagged(stubber, deleted[-1])
    return deleted


def error_event(level: str, description: str) -> dict[str, object]:
    return {
        "EventId": EVENT_ID,
        "ClusterArn": ARN,
        **NAME,
        "InstanceGroupName": "workers",
        "InstanceId": "i-1",
        "ResourceType": "Instance",
        "EventTime": datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC),
        "EventLevel": level,
        "Description": description,
    }
