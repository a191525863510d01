"""Calls about AMIs and task governance fit the pinned SDK's model."""

import datetime

import pytest
from botocore.stub import Stubber

from provisioner.framework.errors import ProvisioningError
from provisioner.framework.owner import digest
from tests.handlers.cloudformation import STACK_ID, Framework
from tests.handlers.stubbed_hyperpod import (
    ARN,
    BY_ARN,
    GROUP,
    NAME,
    OWNER_TAGS,
    created,
    described,
    properties,
)


def test_refused_delete_names_task_governance(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    described(stubber, "InService")
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
        stubbed_stack.delete()


def test_ami_update_fits_the_model(stubbed_stack: Framework, stubber: Stubber) -> None:
    created(stubber)
    stubbed_stack.create(properties())
    rolling = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}
    scheduled = {"ScheduleExpression": "cron(0 2 ? * MON *)", "DeploymentConfig": rolling}
    image = {**GROUP, "ImageId": "ami-0123456789abcdef0", "ScheduledUpdateConfig": scheduled}
    described(stubber, "InService", InstanceGroups=[{"InstanceGroupName": "workers"}])
    stubber.add_response("list_tags", {"Tags": OWNER_TAGS[:2]})
    stubber.add_response("update_cluster", {"ClusterArn": ARN})
    described(stubber, "InService", InstanceGroups=[{"InstanceGroupName": "workers"}])
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
    described(stubber, "InService", NodeProvisioningMode="Continuous")
    stubber.add_response("list_tags", {"Tags": [*OWNER_TAGS[:2], *done]})
    assert stubbed_stack.update(properties(InstanceGroups=[image])).complete
