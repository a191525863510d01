"""A role's policy that IAM would refuse is refused at synthesis."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from hyperpod_cdk.synthesis.sizes import TooLargeError, refuse_large_policy

MOST = 10_240
# {"Statement":[{"Action":"s3:GetObject","Effect":"Allow","Resource":""}],"Version":"2012-10-17"}
FRAME = 95


@pytest.fixture
def policy(stack: cdk.Stack) -> Callable[[str], iam.Policy]:
    def made(resource: str) -> iam.Policy:
        statement = iam.PolicyStatement(actions=["s3:GetObject"], resources=[resource])
        return iam.Policy(stack, "Policy", statements=[statement])

    return made


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
