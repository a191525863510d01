"""Acknowledgments, and the ids of findings they name."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    managed_policy_nag_id,
    skip_checkov,
    wildcard_nag_id,
)


@pytest.mark.parametrize(
    ("resource", "finding"),
    [
        pytest.param(lambda _: "*", "*", id="everything"),
        pytest.param(
            lambda _: f"arn:{cdk.Aws.PARTITION}:ecr:*:*:repository/*",
            "arn:<AWS::Partition>:ecr:*:*:repository/*",
            id="pseudo-parameter",
        ),
        pytest.param(
            lambda stack: s3.Bucket(stack, "Bucket").arn_for_objects("*"),
            "<Bucket83908E77.Arn>/*",
            id="attribute",
        ),
        pytest.param(
            lambda stack: cdk.Fn.join("/", ["a", s3.Bucket(stack, "Bucket").bucket_name, "*"]),
            "a/<Bucket83908E77>/*",
            id="reference",
        ),
    ],
)
def test_a_wildcard_finding_names_the_resource_as_cdk_nag_does(
    stack: cdk.Stack, resource: Callable[[cdk.Stack], str], finding: str
) -> None:
    # The logical ids stand here because the finding's id is made of them.
    assert wildcard_nag_id(stack, resource(stack)) == f"AwsSolutions-IAM5[Resource::{finding}]"


def test_a_managed_policy_finding_holds_in_every_partition() -> None:
    assert managed_policy_nag_id("service-role/Some") == (
        "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/Some]"
    )


def test_acknowledgments_are_recorded_at_their_construct(stack: cdk.Stack) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    acknowledge(bucket, {"AwsSolutions-S1": "No logs of logs.", "AwsSolutions-S10": "A reason."})

    recorded = [
        (rule.removeprefix("Annotation::"), reason)
        for entry in bucket.node.metadata
        if entry.type == "aws:cdk:acknowledged-rules"
        for rule, reason in entry.data.items()
    ]

    assert recorded == [("AwsSolutions-S1", "No logs of logs."), ("AwsSolutions-S10", "A reason.")]


def test_what_checkov_skips_adds_up(stack: cdk.Stack) -> None:
    s3.Bucket(stack, "Bucket")
    for check in ("CKV_AWS_18", "CKV_AWS_21"):
        skip_checkov(stack, resource_type="AWS::S3::Bucket", reasons={check: "A reason."})
    skip_checkov(stack, resource_type="AWS::SQS::Queue", reasons={"CKV_AWS_27": "A reason."})

    resources = Template.from_stack(stack).to_json()["Resources"]
    [metadata] = [resource["Metadata"] for resource in resources.values()]

    assert [skip["id"] for skip in metadata["checkov"]["skip"]] == ["CKV_AWS_18", "CKV_AWS_21"]
