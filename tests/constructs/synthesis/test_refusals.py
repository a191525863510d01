"""What a template says of a value that cannot change once it is deployed."""

import json
from collections.abc import Callable

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from hyperpod_cdk.synthesis.refusals import (
    MOST_REQUEST_BYTES,
    FixedValue,
    TooLargeError,
    refuse_large_policy,
    refuse_large_request,
)


def test_a_token_is_not_compared() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    FixedValue(stack, "Key", key=("key",), value=cdk.Aws.STACK_NAME, reason="", instead="")

    assert Template.from_stack(stack).to_json() == {}


def test_a_rule_compares_the_value_with_what_the_stack_was_created_with() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    FixedValue(
        stack,
        "Cidr",
        key=("network", "subnets", 0, "cidr"),
        value="10.1.0.0/16",
        reason="the subnet would be replaced",
        instead="add another one",
    )

    template = Template.from_stack(stack).to_json()

    [(name, parameter)] = template["Parameters"].items()
    assert parameter["Default"] == "10.1.0.0/16"
    [rule] = template["Rules"].values()
    assert rule["Assertions"] == [
        {
            "Assert": {"Fn::Equals": [{"Ref": name}, "10.1.0.0/16"]},
            "AssertDescription": (
                "network.subnets[0].cidr: '10.1.0.0/16' cannot be changed once it is deployed: the "
                "subnet would be replaced; restore the former value, which the stack's parameter "
                f"{name} has, or add another one"
            ),
        }
    ]


MOST = 10_240
# {"Statement":[{"Action":"s3:GetObject","Effect":"Allow","Resource":""}],"Version":"2012-10-17"}
FRAME = 95


@pytest.fixture
def policy(stack: cdk.Stack) -> Callable[[str], iam.Policy]:
    def made(resource: str) -> iam.Policy:
        statement = iam.PolicyStatement(actions=["s3:GetObject"], resources=[resource])
        return iam.Policy(stack, "Policy", statements=[statement])

    return made


@pytest.mark.parametrize("character", ["x", "\n", "é", "\U0001f6f0", '"'])
def test_a_request_that_no_waiter_takes(stack: cdk.Stack, character: str) -> None:
    # As an event carries it: JSON in a text of JSON.
    size = len(json.dumps(json.dumps(character))) - len(json.dumps(json.dumps("")))
    frame = len(json.dumps(json.dumps([""])))
    most = (MOST_REQUEST_BYTES - frame) // size
    words = {"noun": "the request", "to_do": "use fewer"}

    refuse_large_request(stack, [character * most], **words)
    with pytest.raises(
        TooLargeError, match=r"the request has .* at most 126,976 reach the provisioner: use fewer"
    ):
        refuse_large_request(stack, [character * (most + 1)], **words)


def test_the_largest_that_iam_takes(policy: Callable[[str], iam.Policy]) -> None:
    refuse_large_policy(policy("r" * (MOST - FRAME)), to_do="use fewer")


def test_one_character_more(policy: Callable[[str], iam.Policy]) -> None:
    with pytest.raises(
        TooLargeError, match=r"Stack/Policy: .* 10,241 .* IAM takes 10,240: use few"
    ):
        refuse_large_policy(policy("r" * (MOST - FRAME + 1)), to_do="use fewer")


def test_references_count_as_what_they_become(
    stack: cdk.Stack, policy: Callable[[str], iam.Policy]
) -> None:
    bucket = cdk.CfnResource(stack, "Bucket", type="AWS::S3::Bucket")
    arn = f"arn:{cdk.Aws.PARTITION}:s3:::{bucket.ref}/"
    written = len("arn:aws:s3:::/") + 24

    refuse_large_policy(policy(arn + "r" * (MOST - FRAME - written)), to_do="use fewer")
