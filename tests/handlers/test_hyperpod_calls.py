"""Every SageMaker call fits the pinned SDK's model: botocore's Stubber checks the parameters."""

import pytest
from botocore.stub import Stubber

from provisioner.framework.errors import ProvisioningError
from tests.handlers.cloudformation import Framework, Time
from tests.handlers.stubbed_hyperpod import (
    ARN,
    BY_ARN,
    EVENT_ID,
    GROUP,
    NAME,
    OWNER_TAGS,
    created,
    described,
    error_event,
    not_marked,
    properties,
)


def test_create_sends_the_request_and_the_tags(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    assert stubbed_stack.create(properties()).data["ClusterArn"] == ARN


def test_retried_create_reads_the_tags_of_what_is_there(
    stubbed_stack: Framework, stubber: Stubber
) -> None:
    stubber.add_client_error("create_cluster", "ResourceInUse", "exists")
    described(stubber, "Creating")
    stubber.add_response(
        "list_tags", {"Tags": OWNER_TAGS[:1], "NextToken": "n"}, {"ResourceArn": ARN}
    )
    stubber.add_response(
        "list_tags", {"Tags": OWNER_TAGS[1:]}, {"ResourceArn": ARN, "NextToken": "n"}
    )
    described(stubber, "InService")
    assert stubbed_stack.create(properties()).complete


def test_update_sends_changes_only(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    grown = {**GROUP, "InstanceCount": 2}
    described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("update_cluster", {"ClusterArn": ARN}, {**NAME, "InstanceGroups": [grown]})
    tags = [{"Key": "team", "Value": "a"}]
    stubber.add_response("add_tags", {"Tags": tags}, {"ResourceArn": ARN, "Tags": tags})
    described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubbed_stack.update(properties(InstanceGroups=[grown], Tags=tags))

    described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("delete_tags", {}, {"ResourceArn": ARN, "TagKeys": ["team"]})
    described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubbed_stack.update(properties(InstanceGroups=[grown]))


def test_failed_continuous_create_tells_shortages_and_newest_errors(
    stubbed_stack: Framework, stubber: Stubber
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
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
        "EventTimeAfter": Time().now - 60,
    }
    stubber.add_response(
        "list_cluster_events",
        {"Events": [error_event("Info", "Creation started")], "NextToken": "n"},
        asked,
    )
    stubber.add_response(
        "list_cluster_events",
        {"Events": [error_event("Error", "Creation failed")] * 2},
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
    not_marked(stubber)
    with pytest.raises(ProvisioningError) as failed:
        stubbed_stack.create(properties())
    text = str(failed.value)
    assert text == (
        "The HyperPod cluster ml-cluster is Failed: Cluster creation failed; group workers, "
        "instance i-1: capacity: InsufficientInstanceCapacity; group workers has 0 of 4 nodes. "
        "Try again later, another Availability Zone, or reserve capacity with a training plan."
    )


def test_trouble_with_events_does_not_hide_the_failure(
    stubbed_stack: Framework, stubber: Stubber
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    described(stubber, "Failed", FailureMessage="Broken", NodeProvisioningMode="Continuous")
    stubber.add_client_error("list_cluster_events", "AccessDeniedException", "no")
    not_marked(stubber)
    with pytest.raises(ProvisioningError, match="is Failed: Broken"):
        stubbed_stack.create(properties())


@pytest.mark.parametrize("status", ["RollingBack", "Deleting"])
def test_create_that_turns_back_is_a_failure(
    stubbed_stack: Framework, stubber: Stubber, status: str
) -> None:
    stubber.add_response("create_cluster", {"ClusterArn": ARN})
    described(stubber, status, FailureMessage="Broken")
    not_marked(stubber)
    with pytest.raises(ProvisioningError, match=f"is {status}: Broken"):
        stubbed_stack.create(properties())


def test_delete_reads_the_tags_first(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    described(stubber, "InService")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS}, {"ResourceArn": ARN})
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)
    described(stubber, "Deleting")
    stubber.add_client_error("describe_cluster", "ResourceNotFound", "gone")
    assert stubbed_stack.delete().complete


def test_failed_delete_is_raised(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    described(stubber, "InService")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("delete_cluster", {"ClusterArn": ARN}, NAME)
    described(stubber, "Failed", FailureMessage="Something still uses the cluster")
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS})
    stubber.add_response("list_compute_quotas", {"ComputeQuotaSummaries": []}, BY_ARN)
    stubber.add_response(
        "list_cluster_scheduler_configs", {"ClusterSchedulerConfigSummaries": []}, BY_ARN
    )
    with pytest.raises(ProvisioningError, match="Something still uses"):
        stubbed_stack.delete()
