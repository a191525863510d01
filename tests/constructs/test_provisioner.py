"""The function behind the custom resources, and what it may do."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from hyperpod_cdk import ConfigError
from hyperpod_cdk.provisioner.access import ProvisionerAccess
from hyperpod_cdk.provisioner.provisioner import Provisioner, VpcPlacement
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.support.assembly import new_app
from tests.support.template_view import TemplateView, listed

FUNCTION, GROUP = "AWS::Lambda::Function", "AWS::Logs::LogGroup"


def functions(view: TemplateView) -> dict[str, dict[str, Any]]:
    """Return the provisioner's own functions by handler."""
    return {
        properties["Handler"].removeprefix("provisioner.handler."): properties
        for properties in view.all(FUNCTION)
        if properties["Handler"].startswith("provisioner.")
    }


def function_dependencies(view: TemplateView, function: dict[str, Any]) -> list[str]:
    """Return the logical ids that a function waits for by name."""
    return next(
        list(resource.get("DependsOn", ()))
        for resource in view.resources.values()
        if resource.get("Properties") == function
    )


def role(view: TemplateView) -> dict[str, Any]:
    """Return the one role of the provisioner's functions."""
    (name,) = {function["Role"]["Fn::GetAtt"][0] for function in functions(view).values()}
    properties: dict[str, Any] = view.resources[name]["Properties"]
    return properties


@pytest.mark.parametrize(
    ("stack_name", "construct_id"),
    [
        ("my-sagemaker-platform", "Provisioner"),
        ("Platform", "SageMaker"),
        ("Platform", "LabelingFunctions"),
    ],
)
def test_names_of_functions_that_holders_of_a_managed_policy_may_invoke_are_refused(
    stack_name: str, construct_id: str, tmp_path: Path
) -> None:
    stack = cdk.Stack(new_app(tmp_path), "MySageMaker", stack_name=stack_name)
    with pytest.raises(ConfigError, match="AmazonSageMakerFullAccess lets its holders invoke"):
        Provisioner(stack, construct_id)


def test_both_functions_are_one_package(stack: cdk.Stack, view: View) -> None:
    Provisioner(stack, "Provisioner")

    seen = view()
    found = functions(seen)

    assert found.keys() == {"on_event", "is_complete"}
    for function in found.values():
        assert function["Code"] == found["on_event"]["Code"]
        assert function["Runtime"].startswith("python3.")
        assert function["Architectures"] == ["x86_64"]
        assert function["Layers"] == [{"Ref": seen.id("AWS::Lambda::LayerVersion")}]
        assert function["MemorySize"] == 1024
        assert function["EphemeralStorage"] == {"Size": 512}
        assert function["Timeout"] == 14 * 60
        assert not function.keys() & {"Environment", "VpcConfig"}
        assert function["LoggingConfig"]["LogGroup"]["Ref"] in seen.ids(GROUP, RetentionInDays=90)


@pytest.mark.parametrize("path", ["Stack", "a-stack-of-a-rather-long-name-" * 4])
def test_the_log_groups_are_those_that_the_framework_names(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    stack = cdk.Stack(new_app(tmp_path_factory.mktemp("stack")), path.strip("-"))
    Provisioner(stack, "One")
    Provisioner(stack, "Two")

    seen = TemplateView(Template.from_stack(stack).to_json())
    made = [
        properties
        for properties in seen.all(FUNCTION)
        if properties["Handler"].startswith("provisioner.")
    ]
    stack_id = "<AWS::StackId>"
    names = [seen.text(function["FunctionName"]) for function in made]
    groups = [
        seen.text(
            seen.resources[function["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"][
                "LogGroupName"
            ]
        )
        for function in made
    ]

    assert groups == [f"/aws/lambda/{name}" for name in names]
    assert len(set(names)) == 4
    assert all(stack_id in name for name in names), names
    assert max(len(name.partition("<")[0]) + 8 for name in names) <= 64


def test_the_role_can_write_its_logs_and_nothing_else(stack: cdk.Stack, view: View) -> None:
    provisioner = Provisioner(stack, "Provisioner")

    seen = view()
    own = stack.resolve(provisioner.role.role_name)
    documents = [policy["PolicyDocument"] for policy in seen.all("AWS::IAM::Policy", Roles=[own])]
    (statement,) = [item for document in documents for item in document["Statement"]]
    logs = {function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions(seen).values()}

    assert "ManagedPolicyArns" not in role(seen)
    assert statement["Effect"] == "Allow"
    assert statement["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert {arn["Fn::GetAtt"][0] for arn in statement["Resource"]} == logs
    assert [item["Principal"] for item in role(seen)["AssumeRolePolicyDocument"]["Statement"]] == [
        {"Service": "lambda.amazonaws.com"}
    ]


def test_in_a_vpc(
    stack: cdk.Stack,
    vpc: ec2.IVpc,
    subnets: list[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
    view: View,
) -> None:
    way_out = cdk.CfnResource(stack, "WayOut", type="AWS::CloudFormation::WaitConditionHandle")
    placement = VpcPlacement(
        vpc=vpc, subnets=subnets, security_group=security_group, internet_access=[way_out]
    )
    provisioner = Provisioner(stack, "Provisioner", placement=placement)
    resource = custom_resource(stack, provisioner)

    seen = view()

    for function in functions(seen).values():
        assert function["VpcConfig"]["SubnetIds"] == list(SUBNET_IDS)
        assert function["VpcConfig"]["SecurityGroupIds"] == [SECURITY_GROUP_ID]
        assert any("NetworkInterfaces" in each for each in function_dependencies(seen, function))
    assert "ManagedPolicyArns" not in role(seen)
    assert stack.get_logical_id(way_out) in seen.dependencies(stack.resolve(resource.ref)["Ref"])


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        pytest.param({}, 30, id="default"),
        pytest.param({"poll_interval": cdk.Duration.seconds(1)}, 1, id="given"),
    ],
)
def test_the_framework_asks_for_an_hour(
    stack: cdk.Stack, view: View, arguments: dict[str, Any], seconds: int
) -> None:
    Provisioner(stack, "Provisioner", **arguments)

    seen = view()
    machine = seen.one("AWS::StepFunctions::StateMachine")
    definition = json.loads(seen.text(machine["DefinitionString"]))
    (retry,) = definition["States"][definition["StartAt"]]["Retry"]

    assert (retry["IntervalSeconds"], retry["BackoffRate"]) == (seconds, 1)
    assert retry["IntervalSeconds"] * retry["MaxAttempts"] == 3600


def test_the_log_of_the_waiter_holds_no_response_url(stack: cdk.Stack, view: View) -> None:
    Provisioner(stack, "Provisioner")

    seen = view()
    logging = seen.one("AWS::StepFunctions::StateMachine")["LoggingConfiguration"]

    assert logging["IncludeExecutionData"] is False
    assert logging["Level"] == "ALL"


def test_a_right_is_a_policy_of_the_stack_that_needs_it(stack: cdk.Stack) -> None:
    provisioner = Provisioner(stack, "Provisioner")
    other = cdk.Stack(cdk.Stage.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    statement = iam.PolicyStatement(sid="Own", actions=["sts:GetCallerIdentity"], resources=["*"])
    provisioner.grant(other, "Access", statements=[statement])

    own, others = (
        TemplateView(cdk.assertions.Template.from_stack(item).to_json()) for item in (stack, other)
    )

    assert listed(others.statement("Own")["Action"]) == ["sts:GetCallerIdentity"]
    assert "Own" not in [item.get("Sid") for _, item in own.statements()]


def custom_resource(
    stack: cdk.Stack, provisioner: Provisioner, name: str = "Resource"
) -> cdk.CustomResource:
    return provisioner.custom_resource(
        stack, name, resource_type="Custom::Thing", properties={"A": "b"}, depends_on=[]
    )


def test_every_custom_resource_may_ask_for_the_events_of_its_own_stack(stack: cdk.Stack) -> None:
    provisioner = Provisioner(stack, "Provisioner")
    other = cdk.Stack(cdk.Stage.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    for each in (stack, other):
        custom_resource(each, provisioner, "First")
        custom_resource(each, provisioner, "Second")

    for each in (stack, other):
        seen = TemplateView(Template.from_stack(each).to_json())
        (policy,) = [name for name in seen.ids("AWS::IAM::Policy") if "AskForStack" in name]
        (role,) = seen.resources[policy]["Properties"]["Roles"]
        things = seen.ids("Custom::Thing")

        assert seen.resources[policy]["Properties"]["PolicyDocument"]["Statement"] == [
            {
                "Sid": "AskForStack",
                "Effect": "Allow",
                "Action": "cloudformation:DescribeStackEvents",
                "Resource": {"Ref": "AWS::StackId"},
            }
        ]
        assert each is other or role == stack.resolve(provisioner.role.role_name)
        assert len(things) == 2
        assert all(policy in seen.resources[name]["DependsOn"] for name in things)


def test_a_custom_resource_has_the_whole_hour(stack: cdk.Stack, view: View) -> None:
    custom_resource(stack, Provisioner(stack, "Provisioner"))

    seen = view()
    resource = seen.one("Custom::Thing")
    (token, attribute) = resource["ServiceToken"]["Fn::GetAtt"]

    assert (resource["A"], resource["ServiceTimeout"]) == ("b", "3600")
    assert attribute == "Arn"
    assert seen.resources[token]["Properties"]["Handler"] == "framework.onEvent"


def test_the_waiter_logs_where_no_resource_policy_fills_up(stack: cdk.Stack, view: View) -> None:
    Provisioner(stack, "Provisioner")

    seen = view()
    (target,) = seen.one("AWS::StepFunctions::StateMachine")["LoggingConfiguration"]["Destinations"]
    group = target["CloudWatchLogsLogGroup"]["LogGroupArn"]["Fn::GetAtt"][0]
    name = seen.text(seen.resources[group]["Properties"]["LogGroupName"])

    # With the id of the stack's creation, as the group outlives the stack.
    assert name.startswith("/aws/vendedlogs/states/StackProvisioner")
    assert name.endswith("-<<AWS::StackId> split at /, 2>")
    # One that a failed update made would be in the way of the next update.
    assert seen.resources[group]["DeletionPolicy"] == "RetainExceptOnCreate"


EKS = "arn:aws:eks:us-west-2:<AWS::AccountId>"


@pytest.fixture
def seen(
    stack: cdk.Stack, eks_cluster: eks.ICluster, provisioner: Provisioner, view: View
) -> TemplateView:
    ProvisionerAccess(stack, "Access", cluster=eks_cluster, provisioner=provisioner)
    return view()


def test_it_administers_the_cluster_through_an_access_entry(
    stack: cdk.Stack, provisioner: Provisioner, seen: TemplateView
) -> None:
    entry = seen.one("AWS::EKS::AccessEntry")
    (policy,) = entry["AccessPolicies"]

    assert entry["ClusterName"] == "eks"
    assert entry["PrincipalArn"] == stack.resolve(provisioner.role.role_arn)
    assert policy["AccessScope"] == {"Type": "cluster"}
    assert seen.text(policy["PolicyArn"]).endswith("/AmazonEKSClusterAdminPolicy")


@pytest.mark.parametrize(
    ("sid", "actions", "resource"),
    [
        ("UseCluster", {"eks:CreateAccessEntry", "eks:DescribeCluster"}, f"{EKS}:cluster/eks"),
        (
            "ManageAccessEntries",
            {"eks:DeleteAccessEntry", "eks:DescribeAccessEntry"},
            f"{EKS}:access-entry/eks/*",
        ),
        (
            "AssociateAccessPolicies",
            {"eks:AssociateAccessPolicy"},
            f"{EKS}:access-entry/eks/*",
        ),
    ],
)
def test_rights_end_at_this_cluster(
    seen: TemplateView, sid: str, actions: set[str], resource: str
) -> None:
    statement = seen.statement(sid)

    assert set(listed(statement["Action"])) == actions
    assert seen.text(statement["Resource"]) == resource


def test_it_makes_nobody_an_admin(seen: TemplateView) -> None:
    (values,) = seen.statement("AssociateAccessPolicies")["Condition"]["ArnNotEquals"].values()

    assert [seen.text(value).rpartition("/")[2] for value in values] == [
        "AmazonEKSAdminPolicy",
        "AmazonEKSClusterAdminPolicy",
    ]


def test_the_rights_follow_the_access_entry(seen: TemplateView) -> None:
    entry = seen.id("AWS::EKS::AccessEntry")
    waiting = [name for name in seen.ids("AWS::IAM::Policy") if entry in seen.dependencies(name)]

    assert len(waiting) == 1
