"""Clients, stacks and templates for the tests of the local AWS."""

import json
import time
import uuid
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from hyperpod_emulator.aws.local_aws import AwsClients, LocalAws
from hyperpod_emulator.testing.answers import check_answers
from hyperpod_emulator.testing.patience import PATIENCE_SECONDS

Template = dict[str, Any]
INTERFACES: Template = {
    "Effect": "Allow",
    "Action": [
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
    ],
    "Resource": "*",
}
"""What the role of a function in a VPC may do."""
# Where the EKS clusters of the shared local AWS say that their Kubernetes API is.
KUBERNETES_ENDPOINT, KUBERNETES_CA = "https://localhost:16443", "Q0E="


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A deployed stack."""

    name: str
    outputs: dict[str, str]


class StackFailedError(Exception):
    """A stack did not deploy; the message holds the reasons CloudFormation gave."""


def client(aws: LocalAws, service: str, **credentials: str) -> Any:  # noqa: ANN401 - any service
    """Return a client of a service, as the account's root unless credentials are given."""
    environment = aws.environment()
    made = boto3.client(
        service,  # type: ignore[call-overload] # the name is not known to the type checker
        endpoint_url=aws.endpoint,
        region_name=environment["AWS_REGION"],
        config=Config(retries={"total_max_attempts": 1}),
        **{
            "aws_access_key_id": environment["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": environment["AWS_SECRET_ACCESS_KEY"],
            **credentials,
        },
    )
    check_answers(made)
    return made


def client_of_user(aws: LocalAws, service: str, *statements: Template) -> Any:  # noqa: ANN401 - any service
    """Return a client of a service with the rights of a new user."""
    iam, user = client(aws, "iam"), f"user-{uuid.uuid4().hex[:8]}"
    iam.create_user(UserName=user)
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=user, PolicyName="Rights", PolicyDocument=document)
    return client(aws, service, **key_of_user(aws, user))


def key_of_user(aws: LocalAws, name: str) -> dict[str, str]:
    """Return the credentials of a user."""
    key = client(aws, "iam").create_access_key(UserName=name)["AccessKey"]
    return {
        "aws_access_key_id": key["AccessKeyId"],
        "aws_secret_access_key": key["SecretAccessKey"],
    }


def deploy(
    aws: LocalAws,
    resources: Template,
    outputs: Template,
    *,
    stack: str = "",
    name: str = "",
    exports: Template | None = None,
    parameters: Template | None = None,
    role_arn: str = "",
    deployment: Template | None = None,
) -> Stack:
    """Create a stack, or update the one of that name, and wait for it.

    Args:
        aws: The local AWS to deploy to.
        resources: Resources by logical id.
        outputs: Values by key.
        stack: Name of the stack to update.
        name: Name of the stack to create. Default: one that none has.
        exports: Values by the name under which other stacks import them.
        parameters: Parameters of the template.
        role_arn: Role with which CloudFormation works on the stack.
        deployment: The request's DeploymentConfig.

    Raises:
        StackFailedError: it failed.
    """
    cloudformation = client(aws, "cloudformation")
    template = {
        "Parameters": parameters or {},
        "Resources": resources,
        "Outputs": {
            **{key: {"Value": value} for key, value in outputs.items()},
            **{
                f"Export{index}": {"Value": value, "Export": {"Name": name}}
                for index, (name, value) in enumerate((exports or {}).items())
            },
        },
    }
    name = stack or name or f"stack-{uuid.uuid4().hex[:8]}"
    call = cloudformation.update_stack if stack else cloudformation.create_stack
    options: Template = {"RoleARN": role_arn} if role_arn else {}
    if deployment is not None:
        options["DeploymentConfig"] = deployment
    body, capabilities = json.dumps(template), ["CAPABILITY_NAMED_IAM"]
    call(StackName=name, TemplateBody=body, Capabilities=capabilities, **options)
    found = settled(cloudformation, name)
    if found["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        raise StackFailedError(" ".join(e.get("ResourceStatusReason", "") for e in events))
    return Stack(
        name=name,
        outputs={o["OutputKey"]: o["OutputValue"] for o in found.get("Outputs", [])},
    )


def delete(aws: LocalAws, stack: Stack) -> None:
    """Delete a stack and wait until it is gone."""
    cloudformation = client(aws, "cloudformation")
    [found] = cloudformation.describe_stacks(StackName=stack.name)["Stacks"]
    cloudformation.delete_stack(StackName=stack.name)
    status = settled(cloudformation, found["StackId"])["StackStatus"]
    if status != "DELETE_COMPLETE":
        raise StackFailedError(status)


def another_eks_cluster(clients: AwsClients, *, name: str, role_arn: str) -> None:
    """Make an EKS cluster in a VPC of its own."""
    ec2 = clients("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZoneId=f"usw2-az{n}")
        for n in (1, 2)
    ]
    clients("eks").create_cluster(
        name=name,
        roleArn=role_arn,
        resourcesVpcConfig={"subnetIds": [each["Subnet"]["SubnetId"] for each in subnets]},
    )


def settled(cloudformation: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - a client
    """Return what is said of a stack once nothing is in progress."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found: dict[str, Any]
        [found] = cloudformation.describe_stacks(StackName=name)["Stacks"]
        if not found["StackStatus"].endswith(("_IN_PROGRESS", "_CLEANUP_IN_PROGRESS")):
            return found
        time.sleep(0.02)
    raise StackFailedError(f"{name} still {found['StackStatus']} after {PATIENCE_SECONDS:g} s")


def events(aws: LocalAws, stack: Stack, logical_id: str) -> list[tuple[str, str]]:
    """Return status and reason of a resource's events, the latest first."""
    answer = client(aws, "cloudformation").describe_stack_events(StackName=stack.name)
    return [
        (event["ResourceStatus"], event.get("ResourceStatusReason", ""))
        for event in answer["StackEvents"]
        if event["LogicalResourceId"] == logical_id
    ]


def resource(type_name: str, **properties: Any) -> Template:
    """Return a resource of a template."""
    return {"Type": type_name, "Properties": properties}


def network() -> Template:
    """Return a VPC with a secondary CIDR, three subnets and an EFA-style security group."""
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.192.0.0/16"}},
        "Secondary": {
            "Type": "AWS::EC2::VPCCidrBlock",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/16"},
        },
        "First": subnet("10.192.7.0/28", AvailabilityZoneId="usw2-az1"),
        "Second": subnet("10.192.8.0/28", AvailabilityZoneId="usw2-az2"),
        "Nodes": {**subnet("10.1.0.0/16", AvailabilityZoneId="usw2-az4"), "DependsOn": "Secondary"},
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "nodes", "VpcId": {"Ref": "Vpc"}},
        },
        "In": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {
                "GroupId": {"Ref": "Group"},
                "SourceSecurityGroupId": {"Ref": "Group"},
                "IpProtocol": "-1",
            },
        },
        "Out": {
            "Type": "AWS::EC2::SecurityGroupEgress",
            "Properties": {
                "GroupId": {"Ref": "Group"},
                "DestinationSecurityGroupId": {"Ref": "Group"},
                "IpProtocol": "-1",
            },
        },
    }


def database(*, second: str = "Second", **changes: Any) -> Template:
    """Return a database in two subnets of a network, protected unless it is said."""
    return {
        **network(),
        "Subnets": resource(
            "AWS::RDS::DBSubnetGroup",
            DBSubnetGroupDescription="accounting",
            SubnetIds=[{"Ref": "First"}, {"Ref": second}],
        ),
        "Same": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": "10.192.9.0/28",
                "AvailabilityZoneId": "usw2-az1",
            },
        },
        "Database": resource(
            "AWS::RDS::DBInstance",
            **{
                "AllocatedStorage": "20",
                "BackupRetentionPeriod": 7,
                "DBInstanceClass": "db.t4g.small",
                "DBSubnetGroupName": {"Ref": "Subnets"},
                "DeletionProtection": True,
                "Engine": "mariadb",
                "ManageMasterUserPassword": True,
                "MasterUsername": "slurm",
                "StorageEncrypted": True,
                "VPCSecurityGroups": [{"Ref": "Group"}],
                **changes,
            },
        ),
    }


LUSTRE: Template = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}


def file_system(**properties: Any) -> Template:
    """Return a file system of FSx for Lustre in the subnet `Nodes` of `network`."""
    return {
        "Type": "AWS::FSx::FileSystem",
        "DependsOn": ["In", "Out"],
        "Properties": {
            "FileSystemType": "LUSTRE",
            "FileSystemTypeVersion": "2.15",
            "StorageCapacity": 1200,
            "SubnetIds": [{"Ref": "Nodes"}],
            "SecurityGroupIds": [{"Ref": "Group"}],
            "LustreConfiguration": LUSTRE,
            **properties,
        },
    }


def subnet(cidr: str, **zone: str) -> Template:
    """Return a subnet of the VPC `Vpc`."""
    properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": cidr, **zone}
    return {"Type": "AWS::EC2::Subnet", "Properties": properties}


def role(service: str, *statements: Template, **properties: Any) -> Template:
    """Return a role for a service principal, with an inline policy if statements are given."""
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    policy = {"PolicyName": "Inline", "PolicyDocument": {"Statement": list(statements)}}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
            **({"Policies": [policy]} if statements else {}),
            **properties,
        },
    }


def eks_cluster(mode: str = "API") -> Template:
    """Return an EKS cluster in the subnets of `network`, with the role `ClusterRole`."""
    return {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "RoleArn": {"Fn::GetAtt": ["ClusterRole", "Arn"]},
            "Version": "1.34",
            "AccessConfig": {"AuthenticationMode": mode},
            "ResourcesVpcConfig": {
                "SubnetIds": [{"Ref": "First"}, {"Ref": "Second"}],
                "SecurityGroupIds": [{"Ref": "Group"}],
            },
        },
    }


def eks_network(**properties: Any) -> Template:
    """Return `network` with an EKS cluster, changed as given, and its role."""
    cluster = eks_cluster()
    cluster["Properties"] |= properties
    return {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}
