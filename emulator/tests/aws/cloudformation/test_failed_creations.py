"""What a first creation that fails leaves: what is protected or retained, and no more.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
"""

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    client,
    database,
    deploy,
    resource,
    settled,
)

NAME = "failed-creation"


def log_group(name: str, policy: str) -> Template:
    made = resource("AWS::Logs::LogGroup", LogGroupName=f"/{NAME}/{name}")
    return {**made, "DeletionPolicy": policy}


def test_a_failed_creation_leaves_what_is_protected_until_that_is_not(aws: LocalAws) -> None:
    refused = resource("AWS::EC2::SecurityGroupIngress", GroupId={"Ref": "Group"}, IpProtocol="-1")
    resources = {
        **database(),
        "Retained": log_group("retained", "Retain"),
        "Created": log_group("created", "RetainExceptOnCreate"),
        "Refused": {**refused, "DependsOn": ["Database", "Retained", "Created"]},
    }
    cloudformation, rds = client(aws, "cloudformation"), client(aws, "rds")

    with pytest.raises(StackFailedError, match="names no CIDR"):
        deploy(aws, resources, {}, name=NAME)

    [found] = cloudformation.describe_stacks(StackName=NAME)["Stacks"]
    assert found["StackStatus"] == "ROLLBACK_FAILED"
    left = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in cloudformation.describe_stack_resources(StackName=NAME)["StackResources"]
        if each["ResourceStatus"] == "DELETE_FAILED"
    }
    assert "Database" in left
    groups = client(aws, "logs").describe_log_groups(logGroupNamePrefix=f"/{NAME}/")["logGroups"]
    assert [each["logGroupName"] for each in groups] == [f"/{NAME}/retained"]

    rds.modify_db_instance(DBInstanceIdentifier=left["Database"], DeletionProtection=False)
    cloudformation.delete_stack(StackName=NAME)
    assert settled(cloudformation, found["StackId"])["StackStatus"] == "DELETE_COMPLETE"
