"""The function behind the custom resources, and what it may do."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from hyperpod_cdk import ConfigError
from hyperpod_cdk.provisioner.provisioner import Provisioner
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.assembly import new_app
from tests.support.template_view import TemplateView, listed

FUNCTION = "AWS::Lambda::Function"


@pytest.mark.parametrize(
    ("stack_name", "construct_id"),
    [
        ("my-sagemaker-platform", "Provisioner"),
        ("Platform", "SageMaker"),
        ("Platform", "LabelingFunctions"),
    ],
)
def test_names_of_functions_that_holders_of_a_managed_policy_may_invoke_are_refused(
    stack_name: str, construct_id: str, tmp_path: Path, raises: Raises
) -> None:
    stack = cdk.Stack(new_app(tmp_path), "MySageMaker", stack_name=stack_name)
    with raises(ConfigError):
        Provisioner(stack, construct_id)


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


KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize("has_key", [False, True], ids=["without a key", "with a key"])
def test_the_functions_have_a_journal(stack: cdk.Stack, view: View, *, has_key: bool) -> None:
    key = kms.Key.from_key_arn(stack, "Key", KEY) if has_key else None
    Provisioner(stack, "Provisioner", encryption_key=key)
    seen = view()
    (table,) = seen.ids("AWS::DynamoDB::Table")
    made = seen.resources[table]
    functions = [
        each
        for each in seen.resources.values()
        if each["Type"] == FUNCTION and each["Properties"]["Handler"].startswith("provisioner.")
    ]
    (policy,) = [each for each in seen.ids("AWS::IAM::Policy") if "ProvisionerRoleD" in each]
    rights = seen.statement("KeepJournal")

    assert made["Properties"] == {
        "AttributeDefinitions": [{"AttributeName": "resource_id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "resource_id", "KeyType": "HASH"}],
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
        **(
            {"SSESpecification": {"KMSMasterKeyId": KEY, "SSEEnabled": True, "SSEType": "KMS"}}
            if has_key
            else {}
        ),
    }
    assert made["DeletionPolicy"] == made["UpdateReplacePolicy"] == "Delete"
    assert len(functions) == 2
    for function in functions:
        # By this, it is there before them, and goes after them.
        assert function["Properties"]["Environment"]["Variables"] == {
            "JOURNAL_TABLE": {"Ref": table}
        }
        assert function["Properties"].get("KmsKeyArn") == (KEY if has_key else None)
        assert policy in function["DependsOn"]
    assert rights["Action"] == [f"dynamodb:{verb}Item" for verb in ("Get", "Put")]
    assert rights["Resource"] == {"Fn::GetAtt": [table, "Arn"]}
    if has_key:
        use = seen.statement("EncryptJournal")
        assert use["Resource"] == KEY
        assert seen.text(use["Condition"]["StringEquals"]["kms:ViaService"]).startswith("dynamodb.")
