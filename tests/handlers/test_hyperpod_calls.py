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
from provisioner.owner import digest
from tests.handlers.cloudformation import STACK_ID, Framework, Time
from tests.handlers.fake_stack import FakeAccessEntries, FakeCloudFormation

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
        resource=HyperPodCluster(
            sagemaker=cast("SageMakerApi", stubber.client),
            access_entries=FakeAccessEntries(),
            cloudformation=FakeCloudFormation(),
        ),
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
                *[_event("Error", "Creation failed")] * 2,
            ]
        },
        {
            **NAME,
            "SortBy": "EventTime",
            "SortOrder": "Descending",
            "MaxResults": 50,
            "EventTimeAfter": Time().now - 60,
        },
    )
    metadata = {"Instance": {"FailureMessage": "InsufficientInstanceCapacity"}}
    detail = {**_event("Error", "Creation failed"), "EventDetails": {"EventMetadata": metadata}}
    stubber.add_response(
        "describe_cluster_event", {"EventDetails": detail}, {**NAME, "EventId": EVENT_ID}
    )
    _not_marked(stubber)
    with pytest.raises(ProvisioningError) as failed:
        stack.create(properties())
    text = str(failed.value)
    assert text == (
        "The HyperPod cluster ml-cluster is Failed: Cluster creation failed; group workers, "
        "instance i-1: capacity: InsufficientInstanceCapacity; group workers has 0 of 4 nodes. "
        "Try again later, another Availability Zone, or reserve capacity with a training plan."
    )


def test_trouble_with_events_does_not_hide_the_failure(stack: Framework, stubber: Stubber) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    _described(stubber, "Failed", FailureMessage="Broken", NodeProvisioningMode="Continuous")
    stubber.add_client_error("list_cluster_events", "AccessDeniedException", "no")
    _not_marked(stubber)
    with pytest.raises(ProvisioningError, match="is Failed: Broken"):
        stack.create(properties())


@pytest.mark.parametrize("status", ["RollingBack", "Deleting"])
def test_create_that_turns_back_is_a_failure(
    stack: Framework, stubber: Stubber, status: str
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    _described(stubber, status, FailureMessage="Broken")
    _not_marked(stubber)
    with pytest.raises(ProvisioningError, match=f"is {status}: Broken"):
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
    _described(stubber, "Failed", FailureMessage="Something still uses the cluster")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("list_compute_quotas", {"ComputeQuotaSummaries": []}, BY_ARN)
    stubber.add_response(
        "list_cluster_scheduler_configs", {"ClusterSchedulerConfigSummaries": []}, BY_ARN
    )
    with pytest.raises(ProvisioningError, match="Something still uses"):
        stack.delete()


def test_refused_delete_names_task_governance(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    stack.create(properties())
    _described(stubber, "InService")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_client_error("delete_cluster", "ConflictException", "in use")
    summary = {
        "ComputeQuotaArn": "a",
        "ComputeQuotaId": "abcdefghij12",
        "Name": "research",
        "Status": "Created",
        "ComputeQuotaTarget": {"TeamName": "research"},
        "CreationTime": datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC),
    }
    stubber.add_response(
        "list_compute_quotas", {"ComputeQuotaSummaries": [summary], "NextToken": "n"}, BY_ARN
    )
    stubber.add_response(
        "list_compute_quotas",
        {"ComputeQuotaSummaries": [{**summary, "Status": "Deleted"}]},
        {**BY_ARN, "NextToken": "n"},
    )
    stubber.add_response(
        "list_cluster_scheduler_configs", {"ClusterSchedulerConfigSummaries": []}, BY_ARN
    )
    with pytest.raises(ProvisioningError, match="task governance uses it: compute quota research"):
        stack.delete()


def test_ami_update_fits_the_model(stack: Framework, stubber: Stubber) -> None:
    _created(stubber)
    stack.create(properties())
    rolling = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}
    scheduled = {"ScheduleExpression": "cron(0 2 ? * MON *)", "DeploymentConfig": rolling}
    image = {**GROUP, "ImageId": "ami-0123456789abcdef0", "ScheduledUpdateConfig": scheduled}
    _described(stubber, "InService", InstanceGroups=[{"InstanceGroupName": "workers"}])
    stubber.add_response("update_cluster", {"ClusterArn": ARN})
    _described(stubber, "InService", InstanceGroups=[{"InstanceGroupName": "workers"}])
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS[:2]})
    stubber.add_response(
        "update_cluster_software",
        {"ClusterArn": ARN},
        {
            **NAME,
            "InstanceGroups": [{"InstanceGroupName": "workers"}],
            "ImageId": "ami-0123456789abcdef0",
            "DeploymentConfig": rolling,
        },
    )
    done = [{"Key": "hyperpod-cdk:request", "Value": f"{digest(f'{STACK_ID}/2')[:16]}:2"}]
    stubber.add_response("add_tags", {"Tags": []}, {"ResourceArn": ARN, "Tags": done})
    _described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("list_tags", {"Tags": [*OWNER_TAGS[:2], *done]})
    assert stack.update(properties(InstanceGroups=[image])).complete


def _not_marked(stubber: Stubber) -> None:
    """Expect the attempt to note that the creation failed; it does not succeed."""
    stubber.add_client_error("list_tags", "AccessDeniedException", "no")


def _event(level: str, description: str) -> dict[str, object]:
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
