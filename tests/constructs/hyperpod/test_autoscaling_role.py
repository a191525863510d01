"""The role with which HyperPod scales a cluster."""

import aws_cdk as cdk
import pytest

from hyperpod_cdk.hyperpod.execution_role import AutoScalingRole
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView, listed

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"


def scope(found: TemplateView) -> dict[str, list[str]]:
    return {
        statement["Sid"]: [found.text(arn) for arn in listed(statement["Resource"])]
        for _, statement in found.statements()
    }


def test_hyperpod_assumes_it_for_this_account_only(stack: cdk.Stack, view: View) -> None:
    AutoScalingRole(stack, "AutoScalingRole")

    (statement,) = view().one("AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"]

    assert statement == {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "hyperpod.sagemaker.amazonaws.com"},
        "Condition": {"StringEqualsIfExists": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }


@pytest.mark.parametrize(
    ("keys", "more"),
    [
        pytest.param([], {}, id="no-key"),
        pytest.param([KEY], {"GrantVolumeKeys": [KEY], "DescribeVolumeKeys": [KEY]}, id="key"),
    ],
)
def test_it_adds_and_removes_nodes_and_uses_their_keys(
    stack: cdk.Stack, view: View, keys: list[str], more: dict[str, list[str]]
) -> None:
    AutoScalingRole(stack, "AutoScalingRole", volume_key_ids=keys)

    found = view()

    assert scope(found) == {
        "ScaleClusters": ["arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*"],
        **more,
    }
    assert found.statement("ScaleClusters")["Action"] == [
        "sagemaker:BatchAddClusterNodes",
        "sagemaker:BatchDeleteClusterNodes",
    ]


def test_its_rights_come_with_it(stack: cdk.Stack, view: View) -> None:
    AutoScalingRole(stack, "AutoScalingRole")

    # A policy of its own would not be waited for by who only names the role.
    assert view().ids("AWS::IAM::Policy") == []
