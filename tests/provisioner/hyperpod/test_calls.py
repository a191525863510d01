"""Every SageMaker call fits the pinned SDK's model: botocore's Stubber checks the parameters."""

import datetime
import json
from typing import Any

import pytest
from botocore.stub import Stubber

from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import STACK_ID, Framework, Time

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
BY_ARN = {"ClusterArn": ARN}
EVENT_ID = "01234567-89ab-cdef-0123-456789abcdef"


def properties(**change: object) -> dict[str, str]:
    return {**NAME, "Request": json.dumps({**REQUEST, **change})}


def described(
    stubber: Stubber, status: str, *, tags: list[dict[str, str]] | None = None, **more: object
) -> None:
    answer = {"ClusterArn": ARN, **NAME, "ClusterStatus": status, "InstanceGroups": [], **more}
    stubber.add_response("describe_cluster", answer, NAME)
    listed = OWNER_TAGS if tags is None else tags
    stubber.add_response("list_tags", {"Tags": listed}, {"ResourceArn": ARN})


def not_there(stubber: Stubber) -> None:
    stubber.add_client_error("describe_cluster", "ResourceNotFound", "gone", expected_params=NAME)


def create_call(stubber: Stubber) -> None:
    not_there(stubber)
    sent = {**REQUEST, "Tags": OWNER_TAGS}
    stubber.add_response("create_cluster", {"ClusterArn": ARN}, sent)


def created(stubber: Stubber) -> None:
    create_call(stubber)
    described(stubber, "Creating")
    described(stubber, "InService")


def delete_call(stubber: Stubber) -> None:
    described(stubber, "InService")
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)


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


UNLABELED = error_event("Error", "Something")
"""An event without a level, which botocore does not require."""
del UNLABELED["EventLevel"]
CONTINUOUS: dict[str, Any] = {"NodeProvisioningMode": "Continuous"}
DETAILS = {
    **{key: value for key, value in GROUP.items() if key != "InstanceCount"},
    "TargetCount": 1,
    "CurrentCount": 1,
}


def test_create_sends_the_input_and_the_tags(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    assert stubbed_stack.create(properties()).data["ClusterArn"] == ARN


def test_retried_create_reads_all_the_tags_of_what_is_there(
    stubbed_stack: Framework, stubber: Stubber
) -> None:
    create_call(stubber)
    answer = {"ClusterArn": ARN, **NAME, "ClusterStatus": "Creating", "InstanceGroups": []}
    stubber.add_response("describe_cluster", answer, NAME)
    stubber.add_response(
        "list_tags", {"Tags": OWNER_TAGS[:1], "NextToken": "n"}, {"ResourceArn": ARN}
    )
    more = {"ResourceArn": ARN, "NextToken": "n"}
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS[1:]}, more)
    described(stubber, "InService")
    stubbed_stack.begin("Create", properties())
    assert stubbed_stack.start("Create", properties()).poll().complete  # Lambda invokes once more


def test_update_calls_fit_the_model(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    rolling = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}
    scheduled = {"ScheduleExpression": "cron(0 2 ? * MON *)", "DeploymentConfig": rolling}
    ami = "ami-0123456789abcdef0"
    wanted = {**GROUP, "InstanceCount": 2, "ImageId": ami, "ScheduledUpdateConfig": scheduled}
    team = {"Key": "team", "Value": "a"}
    asked = properties(InstanceGroups=[wanted], Tags=[team])
    described(stubber, "InService", InstanceGroups=[DETAILS], **CONTINUOUS)
    changed = {**NAME, "InstanceGroups": [wanted]}
    stubber.add_response("update_cluster", {"ClusterArn": ARN}, changed)

    larger = {**DETAILS, "TargetCount": 2, "ScheduledUpdateConfig": scheduled}
    described(stubber, "InService", InstanceGroups=[larger], **CONTINUOUS)
    software = {
        **NAME,
        "InstanceGroups": [{"InstanceGroupName": "workers"}],
        "ImageId": ami,
        "DeploymentConfig": rolling,
    }
    stubber.add_response("update_cluster_software", {"ClusterArn": ARN}, software)

    larger = {**larger, "DesiredImageId": ami}
    described(stubber, "InService", InstanceGroups=[larger], **CONTINUOUS)
    sent = {"ResourceArn": ARN, "Tags": [team]}
    stubber.add_response("add_tags", {"Tags": [team]}, sent)
    node = {
        "InstanceGroupName": "workers",
        "InstanceId": "i-0123456789abcdef0",
        "InstanceType": "ml.g5.12xlarge",
        "LaunchTime": datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC),
        "InstanceStatus": {"Status": "Running"},
    }
    first_page = {**NAME, "MaxResults": 100}
    pages = [(first_page, {"NextToken": "n"}), ({**first_page, "NextToken": "n"}, {})]
    for asked_page, more in pages:
        answer = {"ClusterNodeSummaries": [node], **more}
        stubber.add_response("list_cluster_nodes", answer, asked_page)
    assert stubbed_stack.update(asked).data["Shortage"] == "none"


def test_failed_continuous_create_tells_shortages_and_newest_errors(
    stubbed_stack: Framework, stubber: Stubber, raises: Raises
) -> None:
    create_call(stubber)
    described(
        stubber,
        "Failed",
        FailureMessage="Cluster creation failed.",
        NodeProvisioningMode="Continuous",
        InstanceGroups=[{"InstanceGroupName": "workers", "CurrentCount": 0, "TargetCount": 4}],
    )
    asked = {
        **NAME,
        "SortBy": "EventTime",
        "SortOrder": "Descending",
        "MaxResults": 100,
        "EventTimeAfter": Time().now - 2,
    }
    stubber.add_response(
        "list_cluster_events",
        {"Events": [error_event("Info", "Creation started")], "NextToken": "n"},
        asked,
    )
    stubber.add_response(
        "list_cluster_events",
        {"Events": [UNLABELED, *[error_event("Error", "Creation failed")] * 2]},
        {**asked, "NextToken": "n"},
    )
    metadata = {"Instance": {"FailureMessage": "InsufficientInstanceCapacity"}}
    detail = {
        **error_event("Error", "Creation failed"),
        "EventDetails": {"EventMetadata": metadata},
    }
    stubber.add_response(
        "describe_cluster_event", {"EventDetails": detail}, {**NAME, "EventId": EVENT_ID}
    )
    with raises(ProvisioningError):
        stubbed_stack.create(properties())


def test_trouble_with_events_does_not_hide_the_failure(
    stubbed_stack: Framework, stubber: Stubber, raises: Raises
) -> None:
    create_call(stubber)
    described(stubber, "Failed", FailureMessage="Broken", NodeProvisioningMode="Continuous")
    stubber.add_client_error("list_cluster_events", "AccessDeniedException", "no")
    with raises(ProvisioningError):
        stubbed_stack.create(properties())


@pytest.mark.parametrize("status", ["RollingBack", "Deleting"])
def test_create_that_turns_back_is_a_failure(
    stubbed_stack: Framework, stubber: Stubber, status: str, raises: Raises
) -> None:
    create_call(stubber)
    described(stubber, status, FailureMessage="Broken")
    with raises(ProvisioningError):
        stubbed_stack.create(properties())


def test_delete_reads_the_tags_first(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    stubbed_stack.time.sleep(600)
    delete_call(stubber)
    described(stubber, "Deleting")
    stubber.add_client_error("describe_cluster", "ResourceNotFound", "gone")
    assert stubbed_stack.delete().complete


def test_failed_delete_is_raised(
    stubbed_stack: Framework, stubber: Stubber, raises: Raises
) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    delete_call(stubber)
    why = "Something still uses the cluster"
    for _ in range(5):  # DescribeCluster may still show a failure from before
        described(stubber, "Failed", FailureMessage=why)
    with raises(ProvisioningError):
        stubbed_stack.delete()


def test_refused_delete_names_task_governance(
    stubbed_stack: Framework, stubber: Stubber, raises: Raises
) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    described(stubber, "InService")
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
    with raises(ProvisioningError):
        stubbed_stack.delete()


def test_a_new_cluster_whose_tags_are_not_visible_is_not_called_anothers(
    stubbed_stack: Framework, stubber: Stubber, raises: Raises
) -> None:
    now = datetime.datetime.fromtimestamp(Time().now, tz=datetime.UTC)
    described(stubber, "Creating", tags=[], CreationTime=now)
    waiter = stubbed_stack.start("Create", properties())
    assert waiter.event["PhysicalResourceId"] == "ml-cluster"
    long_ago = now - datetime.timedelta(hours=1)
    described(stubber, "Creating", tags=[], CreationTime=long_ago)
    with raises(ProvisioningError):
        stubbed_stack.start("Create", properties())
