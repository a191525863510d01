"""Every SageMaker call fits the pinned SDK's model: botocore's Stubber checks the parameters."""

import datetime
import json
from collections.abc import Iterator
from typing import Any, cast

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

from provisioner.aws_api import SageMakerApi
from provisioner.errors import ProvisioningError
from provisioner.hyperpod_cluster import HyperPodCluster
from tests.handlers.cloudformation import STACK_ID, Framework, Time

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
OWNER_TAGS = [
    {"Key": "hyperpod-cdk:stack-id", "Value": STACK_ID},
    {"Key": "hyperpod-cdk:logical-id", "Value": "Resource"},
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


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    client = boto3.client(
        "sagemaker",
        region_name="us-west-2",
        aws_access_key_id="x",
        aws_secret_access_key="x",  # noqa: S106 - nothing is sent
        config=Config(retries={"total_max_attempts": 1}),
    )
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def stack(stubber: Stubber) -> Framework:
    return Framework(
        resource=HyperPodCluster(sagemaker=cast("SageMakerApi", stubber.client)),
        resource_type="Custom::HyperPodCluster",
        time=Time(),
    )


def properties(**change: object) -> dict[str, str]:
    return {**NAME, "Request": json.dumps({**REQUEST, **change})}


def _described(stubber: Stubber, status: str, **more: object) -> None:
    answer = {"ClusterArn": ARN, **NAME, "ClusterStatus": status, "InstanceGroups": [], **more}
    stubber.add_response("describe_cluster", answer, NAME)


def _created(stubber: Stubber) -> None:
    sent = {**REQUEST, "Tags": OWNER_TAGS}
    stubber.add_response("create_cluster", {"ClusterArn": ARN}, sent)
    _described(stubber, "Creating")
    _described(stubber, "InService")


def test_create_sends_the_request_and_the_tags(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    assert stack.create(properties()).data["ClusterArn"] == ARN


def test_retried_create_reads_the_tags_of_what_is_there(stack: Framework, stubber: Stubber) -> None:
    stubber.add_client_error("create_cluster", "ResourceInUse", "exists")
    _described(stubber, "Creating")
    stubber.add_response(
        "list_tags", {"Tags": OWNER_TAGS[:1], "NextToken": "n"}, {"ResourceArn": ARN}
    )
    stubber.add_response(
        "list_tags", {"Tags": OWNER_TAGS[1:]}, {"ResourceArn": ARN, "NextToken": "n"}
    )
    _described(stubber, "InService")
    assert stack.create(properties()).complete


def test_update_sends_changes_only(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    stack.create(properties())
    grown = {**GROUP, "InstanceCount": 2}
    _described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("update_cluster", {"ClusterArn": ARN}, {**NAME, "InstanceGroups": [grown]})
    tags = [{"Key": "team", "Value": "a"}]
    stubber.add_response("add_tags", {"Tags": tags}, {"ResourceArn": ARN, "Tags": tags})
    _described(stubber, "InService", NodeProvisioningMode="Continuous")
    stack.update(properties(InstanceGroups=[grown], Tags=tags))

    _described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("delete_tags", {}, {"ResourceArn": ARN, "TagKeys": ["team"]})
    _described(stubber, "InService", NodeProvisioningMode="Continuous")
    stack.update(properties(InstanceGroups=[grown]))


def test_failed_continuous_create_tells_shortages_and_newest_errors(
    stack: Framework, stubber: Stubber
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    _described(
        stubber,
        "Failed",
        FailureMessage="Cluster creation failed.",
        NodeProvisioningMode="Continuous",
        InstanceGroups=[{"InstanceGroupName": "workers", "CurrentCount": 0, "TargetCount": 4}],
    )
    stubber.add_response(
        "list_cluster_events",
        {
            "Events": [
                _event("Info", "Creation started"),
                *[_event("Error", "Insufficient capacity for ml.g5.12xlarge")] * 2,
            ]
        },
        {**NAME, "SortBy": "EventTime", "SortOrder": "Descending", "MaxResults": 50},
    )
    with pytest.raises(ProvisioningError) as failed:
        stack.create(properties())
    text = str(failed.value)
    assert text == (
        "The HyperPod cluster ml-cluster is Failed: Cluster creation failed; group workers has 0 "
        "of 4 nodes; workers i-1: Insufficient capacity for ml.g5.12xlarge. Try again later, "
        "another Availability Zone, or reserve capacity with a training plan."
    )


def test_trouble_with_events_does_not_hide_the_failure(stack: Framework, stubber: Stubber) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    _described(stubber, "Failed", FailureMessage="Broken", NodeProvisioningMode="Continuous")
    stubber.add_client_error("list_cluster_events", "AccessDeniedException", "no")
    with pytest.raises(ProvisioningError, match="is Failed: Broken"):
        stack.create(properties())


@pytest.mark.parametrize("status", ["RollingBack", "Deleting"])
def test_create_that_turns_back_is_a_failure(
    stack: Framework, stubber: Stubber, status: str
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    _described(stubber, status, FailureMessage="No quota")
    with pytest.raises(ProvisioningError, match=f"is {status}: No quota"):
        stack.create(properties())


def test_delete_reads_the_tags_first(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    stack.create(properties())
    _described(stubber, "InService")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS}, {"ResourceArn": ARN})
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)
    _described(stubber, "Deleting")
    stubber.add_client_error("describe_cluster", "ResourceNotFound", "gone")
    assert stack.delete().complete


def test_failed_delete_is_raised(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    stack.create(properties())
    _described(stubber, "InService")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)
    _described(stubber, "Failed", FailureMessage="A compute quota still uses the cluster")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    with pytest.raises(ProvisioningError, match="compute quota still uses"):
        stack.delete()


def _event(level: str, description: str) -> dict[str, object]:
    return {
        "EventId": "e",
        "ClusterArn": ARN,
        **NAME,
        "InstanceGroupName": "workers",
        "InstanceId": "i-1",
        "ResourceType": "Instance",
        "EventTime": datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC),
        "EventLevel": level,
        "Description": description,
    }
