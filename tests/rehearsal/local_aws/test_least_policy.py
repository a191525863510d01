"""The least policy of a deployer is enough for CloudFormation, and for this deployment alone."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Address, TemplateResource
from hyperpod_cli.inspect.permissions.names import Names
from hyperpod_cli.inspect.permissions.needs import needs
from hyperpod_cli.inspect.permissions.policies import Statement, statements_of
from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.service_roles import (
    PARAMETERS,
    created,
    flow_log,
    put_parameter,
    service_role,
    updated,
    without,
)
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    delete,
    deploy,
    resource,
    role,
)
from hyperpod_shared.owner import STACK_TAG

ENVIRONMENT = Environment(partition="aws", region="us-west-2", account=ACCOUNT)
KEY_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
            "Action": "kms:*",
            "Resource": "*",
        }
    ],
}
LINK = {
    "Link": resource(
        "AWS::FSx::DataRepositoryAssociation",
        FileSystemId="fs-0123456789abcdef0",
        FileSystemPath="/data",
        DataRepositoryPath="s3://dataset/train",
    )
}
NODES = {
    "Role": role("ec2.amazonaws.com"),
    "Launched": resource(
        "AWS::EC2::LaunchTemplate",
        LaunchTemplateData={"Monitoring": {"Enabled": True}},
        TagSpecifications=[
            {
                "ResourceType": "launch-template",
                "Tags": [{"Key": STACK_TAG, "Value": {"Ref": "AWS::StackId"}}],
            }
        ],
    ),
    "Nodes": resource(
        "AWS::EKS::Nodegroup",
        ClusterName="none",
        NodegroupName="a",
        ScalingConfig={"MinSize": 0, "DesiredSize": 0, "MaxSize": 1},
        NodeRole={"Fn::GetAtt": ["Role", "Arn"]},
        Subnets=["subnet-0123456789abcdef0"],
        LaunchTemplate={"Id": {"Ref": "Launched"}, "Version": "1"},
    ),
}


def least(stack: str, template: Template | None = None) -> list[Statement]:
    """Return what `hyperpod-cdk deployer-policy` would let CloudFormation do with a template.

    Args:
        stack: Name of the stack.
        template: Its resources. Default: the VPC with a flow log.
    """
    bodies = flow_log() if template is None else template
    described = [
        TemplateResource(
            address=Address(stack, name),
            type=body["Type"],
            properties=body["Properties"],
            needs=tuple(Address(stack, other) for other in bodies if other != name),
        )
        for name, body in bodies.items()
    ]
    deployment, _, _ = stack.rpartition("-")
    names = Names(deployment=deployment, environment=ENVIRONMENT, resources=described)
    return [*statements_of(needs({stack: {"Parameters": PARAMETERS}}, names))]


@pytest.fixture
def stack() -> str:
    """The name of a stack that none has yet."""
    return f"ml{uuid.uuid4().hex[:6]}-platform"


@pytest.fixture(autouse=True)
def parameter(aws: LocalAws) -> None:
    """The parameter that the template reads."""
    put_parameter(aws)


def test_the_least_policy_creates_updates_and_deletes(aws: LocalAws, stack: str) -> None:
    made = created(aws, service_role(aws, least(stack)), flow_log(), stack)
    updated(aws, flow_log("10.0.1.0/24"), stack)
    delete(aws, made)


@pytest.mark.parametrize(
    ("missing", "arn"),
    [
        ("iam:AttachRolePolicy", "role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"),
        ("iam:PutRolePolicy", "role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"),
        ("s3:Get*", "arn:aws:s3:::dataset"),
        ("s3:List*", "arn:aws:s3:::dataset"),
        ("s3:PutObject", "arn:aws:s3:::dataset/"),
    ],
)
def test_who_links_a_bucket_must_be_allowed_what_fsx_gives_itself(
    aws: LocalAws, stack: str, missing: str, arn: str
) -> None:
    execution = service_role(aws, without(least(stack, LINK), missing))
    with pytest.raises(StackFailedError) as failed:
        created(aws, execution, LINK, stack)
    assert f"is not authorized to perform: {missing} on resource: " in str(failed.value)
    assert arn in str(failed.value)


def test_the_least_policy_of_a_link_is_enough(aws: LocalAws, stack: str) -> None:
    with pytest.raises(StackFailedError, match=r"fs-0123456789abcdef0.*does not exist"):
        created(aws, service_role(aws, least(stack, LINK)), LINK, stack)


def test_who_makes_a_node_group_must_be_allowed_to_launch(aws: LocalAws, stack: str) -> None:
    execution = service_role(aws, without(least(stack, NODES), "ec2:RunInstances"))
    with pytest.raises(StackFailedError, match=r"is not authorized.*: ec2:RunInstances"):
        created(aws, execution, NODES, stack)


def test_the_least_policy_of_a_node_group_is_enough(aws: LocalAws, stack: str) -> None:
    with pytest.raises(StackFailedError, match=r"subnet-0123456789abcdef0' does not exist"):
        created(aws, service_role(aws, least(stack, NODES)), NODES, stack)


def test_the_names_of_another_deployment_are_not_enough(aws: LocalAws, stack: str) -> None:
    with pytest.raises(StackFailedError, match=r"is not authorized to perform: (iam|logs):"):
        created(aws, service_role(aws, least("other-platform")), flow_log(), stack)


# What the template of one deployment does to the VPC, security group or KMS key of another, each
# with the action that is refused.
TOUCHES: list[Any] = [
    pytest.param(
        "ec2:CreateSubnet",
        lambda other: resource("AWS::EC2::Subnet", VpcId=other["Vpc"], CidrBlock="10.0.9.0/24"),
        id="subnet",
    ),
    pytest.param(
        "ec2:CreateRouteTable",
        lambda other: resource("AWS::EC2::RouteTable", VpcId=other["Vpc"]),
        id="route-table",
    ),
    pytest.param(
        "ec2:AssociateVpcCidrBlock",
        lambda other: resource(
            "AWS::EC2::VPCCidrBlock", VpcId=other["Vpc"], CidrBlock="10.1.0.0/16"
        ),
        id="cidr-block",
    ),
    pytest.param(
        "ec2:AuthorizeSecurityGroupIngress",
        lambda other: resource(
            "AWS::EC2::SecurityGroupIngress",
            GroupId=other["Group"],
            IpProtocol="-1",
            CidrIp="0.0.0.0/0",
        ),
        id="security-group",
    ),
    pytest.param(
        "kms:UpdateAlias",
        lambda other: resource(
            "AWS::KMS::Alias", AliasName="alias/taken", TargetKeyId=other["Key"]
        ),
        id="key",
    ),
]


REFERENCES: Template = {name: {"Ref": name} for name in ("Vpc", "Group", "Key")}


@pytest.mark.parametrize(("action", "touching"), TOUCHES)
def test_a_deployment_cannot_touch_one_whose_name_begins_alike(
    aws: LocalAws, stack: str, action: str, touching: Callable[[Mapping[str, Any]], Template]
) -> None:
    own, other = stack, f"{stack.partition('-')[0]}-prod-platform"
    group = resource("AWS::EC2::SecurityGroup", GroupDescription="g", VpcId={"Ref": "Vpc"})
    tag = {"Key": "hyperpod-cdk:stack-id", "Value": {"Ref": "AWS::StackId"}}
    key = resource("AWS::KMS::Key", KeyPolicy=KEY_POLICY, Tags=[tag])
    template = {"Vpc": flow_log()["Vpc"], "Group": group, "Key": key}
    theirs = deploy(aws, template, REFERENCES, name=other)
    # A template that makes one of each kind, so its policy allows what they are for.
    touched = {**template, "Touch": touching(REFERENCES)}
    execution = service_role(aws, least(own, touched))

    created(aws, execution, touched, own)
    foreign = {**touched, "Touch": touching(theirs.outputs)}
    with pytest.raises(StackFailedError, match=f"is not authorized to perform: {action} on"):
        updated(aws, foreign, own)

    delete(aws, theirs)


def test_roles_keep_their_boundary(aws: LocalAws, stack: str) -> None:
    def trusting(boundary: str | None) -> Template:
        arn = f"arn:aws:iam::{ACCOUNT}:policy/{boundary}"
        bounded = {} if boundary is None else {"PermissionsBoundary": arn}
        return role("lambda.amazonaws.com", **bounded)

    bounded = {"Role": trusting("Boundary")}
    created(aws, service_role(aws, least(stack, bounded)), bounded, stack)
    for changed, action in (
        ({"Role": trusting(None)}, "DeleteRolePermissionsBoundary"),
        ({"Role": trusting("Wider")}, "PutRolePermissionsBoundary"),
        ({**bounded, "Second": trusting(None)}, "CreateRole"),
    ):
        with pytest.raises(StackFailedError, match=f"not authorized to perform: iam:{action} on"):
            updated(aws, changed, stack)


def test_roles_get_the_policies_of_the_templates_alone(aws: LocalAws, stack: str) -> None:
    def attached(name: str) -> Template:
        arns = [f"arn:aws:iam::aws:policy/{name}"]
        return {"Role": role("lambda.amazonaws.com", ManagedPolicyArns=arns)}

    named = attached("AmazonEKSClusterPolicy")
    created(aws, service_role(aws, least(stack, named)), named, stack)
    with pytest.raises(StackFailedError, match="not authorized to perform: iam:AttachRolePolicy"):
        updated(aws, attached("AdministratorAccess"), stack)
