"""The functions behind the custom resources, their role and the provider framework."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from hyperpod_cdk.provisioner.provisioner import Provisioner, VpcPlacement
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.support.assembly import new_app
from tests.support.template_view import TemplateView, listed

FUNCTION, ROLE, GROUP = "AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup"


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


@pytest.mark.parametrize("handler", ["on_event", "is_complete"])
def test_functions(stack: cdk.Stack, view: View, handler: str) -> None:
    Provisioner(stack, "Provisioner")

    seen = view()
    function = functions(seen)[handler]

    assert functions(seen).keys() == {"on_event", "is_complete"}
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


def test_both_functions_are_one_package(stack: cdk.Stack, view: View) -> None:
    Provisioner(stack, "Provisioner")

    on_event, is_complete = functions(view()).values()

    assert on_event["Code"] == is_complete["Code"]


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


def custom_resource(stack: cdk.Stack, provisioner: Provisioner) -> cdk.CustomResource:
    return provisioner.custom_resource(
        stack, "Resource", resource_type="Custom::Thing", properties={"A": "b"}, depends_on=[]
    )


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
