"""CloudFormation may do with a stack's role what the role is allowed, and no more."""

import json
import uuid
from copy import deepcopy
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.service_roles import (
    allow,
    created,
    flow_log,
    put_parameter,
    service_role,
    updated,
    without,
)
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    client_of_user,
    delete,
    events,
)

Statement = dict[str, Any]
ACTIONS = (
    "autoscaling:DescribeTags",
    "ec2:AssociateSubnetCidrBlock",
    "ec2:CreateFlowLogs",
    "ec2:CreateSubnet",
    "ec2:CreateTags",
    "ec2:CreateVpc",
    "ec2:CreateVpcEncryptionControl",
    "ec2:DeleteFlowLogs",
    "ec2:DeleteSubnet",
    "ec2:DeleteTags",
    "ec2:DeleteVpc",
    "ec2:DescribeFlowLogs",
    "ec2:DescribeNetworkAcls",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeVpcEncryptionControls",
    "ec2:DescribeVpcs",
    "ec2:DisassociateSubnetCidrBlock",
    "ec2:ModifySubnetAttribute",
    "ec2:ModifyVpcAttribute",
    "ec2:ModifyVpcTenancy",
    "iam:CreateRole",
    "iam:CreateServiceLinkedRole",
    "iam:DeleteRole",
    "iam:DeleteRolePolicy",
    "iam:GetRole",
    "iam:GetRolePolicy",
    "iam:ListAttachedRolePolicies",
    "iam:ListRolePolicies",
    "iam:PassRole",
    "iam:PutRolePolicy",
    "iam:TagRole",
    "iam:UntagRole",
    "iam:UpdateAssumeRolePolicy",
    "iam:UpdateRole",
    "iam:UpdateRoleDescription",
    "logs:AssociateKmsKey",
    "logs:CreateLogDelivery",
    "logs:CreateLogGroup",
    "logs:DeleteDataProtectionPolicy",
    "logs:DeleteIndexPolicy",
    "logs:DeleteLogDelivery",
    "logs:DeleteLogGroup",
    "logs:DeleteResourcePolicy",
    "logs:DeleteRetentionPolicy",
    "logs:DescribeIndexPolicies",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:DisassociateKmsKey",
    "logs:GetDataProtectionPolicy",
    "logs:ListTagsForResource",
    "logs:PutBearerTokenAuthentication",
    "logs:PutDataProtectionPolicy",
    "logs:PutIndexPolicy",
    "logs:PutLogGroupDeletionProtection",
    "logs:PutResourcePolicy",
    "logs:PutRetentionPolicy",
    "logs:TagResource",
    "logs:UntagResource",
    "s3:GetBucketPolicy",
    "s3:PutBucketPolicy",
    "s3:PutObject",
    "ssm:GetParameters",
)
"""What CloudFormation does with the template below."""


def statements() -> list[Statement]:
    """Return a policy of these actions, a statement each."""
    return [{"Effect": "Allow", "Action": [action], "Resource": "*"} for action in ACTIONS]


@pytest.fixture
def stack() -> str:
    """The name of a stack that none has yet."""
    return f"ml{uuid.uuid4().hex[:6]}-network"


@pytest.fixture(autouse=True)
def parameter(aws: LocalAws) -> None:
    """The parameter that the template reads."""
    put_parameter(aws)


def test_a_role_with_every_action_creates_updates_and_deletes(aws: LocalAws, stack: str) -> None:
    made = created(aws, service_role(aws, statements()), flow_log(), stack)
    updated(aws, flow_log("10.0.1.0/24"), stack)
    delete(aws, made)


@pytest.mark.parametrize(
    "missing",
    [
        "ec2:CreateFlowLogs",
        "ec2:CreateSubnet",
        "ec2:CreateTags",
        "ec2:DescribeVpcs",
        "iam:CreateRole",
        "iam:CreateServiceLinkedRole",
        "iam:PassRole",
        "logs:CreateLogGroup",
    ],
)
def test_without_one_action_a_creation_fails(aws: LocalAws, stack: str, missing: str) -> None:
    execution = service_role(aws, without(statements(), missing))
    with pytest.raises(StackFailedError, match=f"AWSCloudFormation is not authorized.*: {missing}"):
        created(aws, execution, flow_log(), stack)


def test_the_parameters_of_a_template_are_read_with_the_role(aws: LocalAws, stack: str) -> None:
    execution = service_role(aws, without(statements(), "ssm:GetParameters"))
    with pytest.raises(ClientError, match=r"ssm:GetParameters on resource: .*/cdk-bootstrap/x/ver"):
        created(aws, execution, flow_log(), stack)


def test_without_one_action_an_update_and_a_deletion_fail(aws: LocalAws, stack: str) -> None:
    execution = service_role(aws, statements())
    name = execution.rpartition("/")[2]
    made = created(aws, execution, flow_log(), stack)

    allow(aws, name, without(statements(), "logs:PutRetentionPolicy"))
    with pytest.raises(StackFailedError, match="logs:PutRetentionPolicy"):
        updated(aws, flow_log("10.0.1.0/24"), stack)

    allow(aws, name, without(statements(), "ec2:DeleteVpc"))
    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, made)
    assert "ec2:DeleteVpc" in events(aws, made, "Vpc")[0][1]

    allow(aws, name, statements())
    delete(aws, made)


@pytest.mark.parametrize(
    ("action", "condition"),
    [
        ("iam:PassRole", {"iam:PassedToService": "lambda.amazonaws.com"}),
        ("iam:CreateServiceLinkedRole", {"iam:AWSServiceName": "eks.amazonaws.com"}),
    ],
)
def test_another_service_is_not_enough(
    aws: LocalAws, stack: str, action: str, condition: dict[str, str]
) -> None:
    changed = deepcopy(statements())
    (statement,) = [each for each in changed if action in each["Action"]]
    statement["Condition"] = {"StringEquals": condition}
    with pytest.raises(StackFailedError, match=action):
        created(aws, service_role(aws, changed), flow_log(), stack)


def test_a_role_for_another_service_is_refused(aws: LocalAws, stack: str) -> None:
    execution = service_role(aws, statements(), service="lambda.amazonaws.com")
    with pytest.raises(ClientError, match="is invalid or cannot be assumed"):
        created(aws, execution, flow_log(), stack)


def test_who_calls_must_be_allowed_to_pass_the_role(aws: LocalAws) -> None:
    allowed = {"Effect": "Allow", "Action": "cloudformation:*", "Resource": "*"}
    cloudformation = client_of_user(aws, "cloudformation", allowed)
    template = json.dumps({"Resources": {"Vpc": flow_log()["Vpc"]}})
    execution = service_role(aws, statements())
    with pytest.raises(ClientError, match="not authorized to perform: iam:PassRole on resource"):
        cloudformation.create_stack(StackName="stack-x", TemplateBody=template, RoleARN=execution)
