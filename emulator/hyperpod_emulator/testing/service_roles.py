"""Stacks that CloudFormation deploys with a role of its own, and what the role may do."""

import json
import uuid
from collections.abc import Iterable, Sequence

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import Stack, Template, client, deploy, resource, role

PARAMETER = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/x/version"}
PARAMETERS = {"Version": PARAMETER}


def put_parameter(aws: LocalAws) -> None:
    """Make the parameter that each template reads."""
    ssm = client(aws, "ssm")
    ssm.put_parameter(Name=PARAMETER["Default"], Value="30", Type="String", Overwrite=True)


def flow_log(cidr: str = "10.0.0.0/24") -> Template:
    """Return a VPC with a flow log; the subnet's CIDR replaces it."""
    return {
        "Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16"),
        "Subnet": resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock=cidr),
        "Group": resource("AWS::Logs::LogGroup", RetentionInDays=30 if "0.0.0" in cidr else 60),
        "Role": role("vpc-flow-logs.amazonaws.com"),
        "Log": resource(
            "AWS::EC2::FlowLog",
            ResourceId={"Ref": "Vpc"},
            ResourceType="VPC",
            TrafficType="ALL",
            LogGroupName={"Ref": "Group"},
            DeliverLogsPermissionArn={"Fn::GetAtt": ["Role", "Arn"]},
        ),
    }


def without(statements: Iterable[Template], action: str) -> list[Template]:
    """Return the statements of a policy without one action."""
    kept = [
        {**each, "Action": [other for other in each["Action"] if other != action]}
        for each in statements
    ]
    return [each for each in kept if each["Action"]]


def service_role(
    aws: LocalAws,
    statements: Sequence[Template],
    *,
    service: str = "cloudformation.amazonaws.com",
) -> str:
    """Make a role with a policy that a service may assume; return its ARN."""
    iam, name = client(aws, "iam"), f"execution-{uuid.uuid4().hex[:8]}"
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    made = iam.create_role(
        RoleName=name,
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    allow(aws, name, statements)
    arn: str = made["Role"]["Arn"]
    return arn


def allow(aws: LocalAws, role_name: str, statements: Sequence[Template]) -> None:
    """Give a role another policy."""
    document = json.dumps({"Version": "2012-10-17", "Statement": [*statements]})
    iam = client(aws, "iam")
    iam.put_role_policy(RoleName=role_name, PolicyName="Least", PolicyDocument=document)


def created(aws: LocalAws, role_arn: str, template: Template, name: str) -> Stack:
    """Create a stack with a role."""
    return deploy(aws, template, {}, name=name, parameters=PARAMETERS, role_arn=role_arn)


def updated(aws: LocalAws, template: Template, name: str) -> Stack:
    """Update a stack, which keeps its role."""
    return deploy(aws, template, {}, stack=name, parameters=PARAMETERS)
