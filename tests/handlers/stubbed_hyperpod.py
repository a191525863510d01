"""Answers of SageMaker for one cluster, as botocore's Stubber checks them against the model."""

import datetime
import json
from typing import Any

from botocore.stub import Stubber

from provisioner.framework.owner import digest
from tests.handlers.cloudformation import STACK_ID

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
OWNER_TAGS = [
    {"Key": "hyperpod-cdk:stack-id", "Value": STACK_ID},
    {"Key": "hyperpod-cdk:logical-id", "Value": "Resource"},
    {"Key": "hyperpod-cdk:request", "Value": f"{digest(f'{STACK_ID}/1')[:16]}:0"},
]
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


def described(stubber: Stubber, status: str, **more: object) -> None:
    answer = {"ClusterArn": ARN, **NAME, "ClusterStatus": status, "InstanceGroups": [], **more}
    stubber.add_response("describe_cluster", answer, NAME)


def created(stubber: Stubber) -> None:
    sent = {**REQUEST, "Tags": OWNER_TAGS}
    stubber.add_response("create_cluster", {"ClusterArn": ARN}, sent)
    described(stubber, "Creating")
    described(stubber, "InService")


def not_marked(stubber: Stubber) -> None:
    """Expect the attempt to note that the creation failed; it does not succeed."""
    stubber.add_client_error("list_tags", "AccessDeniedException", "no")


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
