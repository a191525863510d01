"""The role of HyperPod nodes: who may assume it, and what it may do where."""

import re
from collections.abc import Sequence

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3 as s3

from hyperpod_cdk.hyperpod.execution_role import ExecutionRole
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.support.template_view import TemplateView, listed

EC2 = "arn:aws:ec2:us-west-2:<AWS::AccountId>"
BUCKET = "arn:aws:s3:::sagemaker-bucket"
READ_ONLY = re.compile(r"ec2:Describe\w+|ecr:GetAuthorizationToken")
# Statement: resources, as narrow as AWS takes them.
SCOPE = {
    "ManageNetworkInterfaces": {
        f"{EC2}:network-interface/*",
        f"{EC2}:instance/*",
        f"{EC2}:security-group/{SECURITY_GROUP_ID}",
        *(f"{EC2}:subnet/{subnet}" for subnet in SUBNET_IDS),
    },
    "TagNetworkInterfaces": {f"{EC2}:network-interface/*"},
    "DescribeNetwork": {"*"},
    "PullImages": {"arn:<AWS::Partition>:ecr:*:*:repository/*"},
    "PodIdentity": {"arn:aws:eks:us-west-2:<AWS::AccountId>:cluster/eks"},
    "ListScripts": {BUCKET},
    "ReadScripts": {f"{BUCKET}/on_create.sh", f"{BUCKET}/lib/log.sh"},
}


@pytest.fixture
def seen(
    *,
    stack: cdk.Stack,
    eks_cluster: eks.ICluster,
    subnets: Sequence[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
    bucket: s3.IBucket,
    view: View,
) -> TemplateView:
    ExecutionRole(
        stack,
        "ExecutionRole",
        cluster=eks_cluster,
        subnets=subnets,
        security_group=security_group,
        bucket=bucket,
        script_keys=["on_create.sh", "lib/log.sh"],
    )
    return view()


def test_sagemaker_assumes_it_for_this_account_only(seen: TemplateView) -> None:
    (statement,) = seen.one("AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"]

    assert statement == {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "sagemaker.amazonaws.com"},
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }


def test_it_has_hyperpods_managed_policy_alone(seen: TemplateView) -> None:
    assert [seen.text(arn) for arn in seen.one("AWS::IAM::Role")["ManagedPolicyArns"]] == [
        "arn:<AWS::Partition>:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
    ]


def test_every_statement_has_its_own_narrow_scope(seen: TemplateView) -> None:
    scope = {
        statement["Sid"]: {seen.text(arn) for arn in listed(statement["Resource"])}
        for _, statement in seen.statements()
    }

    assert scope == SCOPE


def test_what_may_be_done_to_everything_only_reads(seen: TemplateView) -> None:
    actions = listed(seen.statement("DescribeNetwork")["Action"])

    assert [action for action in actions if not READ_ONLY.fullmatch(action)] == []


def test_it_tags_nothing_but_network_interfaces(seen: TemplateView) -> None:
    tagging = [
        statement["Sid"]
        for _, statement in seen.statements()
        if "ec2:CreateTags" in listed(statement["Action"])
    ]

    assert tagging == ["TagNetworkInterfaces"]


def test_the_rights_are_one_policy_on_the_role(seen: TemplateView) -> None:
    policy = seen.one("AWS::IAM::Policy")

    assert policy["Roles"] == [{"Ref": seen.id("AWS::IAM::Role")}]
    assert {statement["Effect"] for statement in policy["PolicyDocument"]["Statement"]} == {"Allow"}
