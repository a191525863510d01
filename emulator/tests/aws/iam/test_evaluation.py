"""What IAM says of roles and bucket policies: authorized, simulated, enforced."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.bucket_writers import (
    BUCKET,
    LISTED,
    OTHER,
    SCRIPT,
    UNLISTED,
    WRITER,
    make_bucket,
    s3_of,
)
from hyperpod_emulator.testing.stacks import client, client_of_user

NAME, PATH = "Simulated", "/team/"
VPC = "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1"
STATEMENT = {
    "Effect": "Allow",
    "Action": "ec2:CreateNetworkInterface",
    "Resource": "arn:aws:ec2:*:*:subnet/*",
    "Condition": {"ArnEquals": {"ec2:Vpc": VPC}},
}


@pytest.fixture(scope="module")
def role_arn(aws: LocalAws) -> str:
    iam = client(aws, "iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    arn = iam.create_role(RoleName=NAME, Path=PATH, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    document = json.dumps({"Version": "2012-10-17", "Statement": [STATEMENT]})
    iam.put_role_policy(RoleName=NAME, PolicyName="Own", PolicyDocument=document)
    return str(arn)


def entry(value: str) -> dict[str, Any]:
    return {"ContextKeyName": "ec2:Vpc", "ContextKeyValues": [value], "ContextKeyType": "string"}


@pytest.mark.parametrize(
    ("resource", "context", "decision", "missing"),
    [
        ("subnet/subnet-1", [entry(VPC)], "allowed", []),
        ("subnet/subnet-1", [entry(f"{VPC}2")], "implicitDeny", []),
        ("subnet/subnet-1", [], "implicitDeny", ["ec2:vpc"]),
        ("network-interface/eni-1", [entry(VPC)], "implicitDeny", []),
    ],
)
def test_a_simulation_takes_resource_and_context(
    aws: LocalAws,
    role_arn: str,
    *,
    resource: str,
    context: list[dict[str, Any]],
    decision: str,
    missing: list[str],
) -> None:
    instance = "arn:aws:ec2:us-east-1:000000000000:instance/i-1"
    other = f"arn:aws:ec2:us-east-1:000000000000:{resource}"
    (found,) = client(aws, "iam").simulate_principal_policy(
        PolicySourceArn=role_arn,
        ActionNames=["ec2:CreateNetworkInterface"],
        ResourceArns=[instance, other],
        ContextEntries=context,
    )["EvaluationResults"]
    # The decision of the action is the most restrictive of its resources'.
    assert (found["EvalDecision"], found["MissingContextValues"]) == ("implicitDeny", missing)
    assert found["EvalResourceName"] not in (instance, other)
    assert [
        (each["EvalResourceName"], each["EvalResourceDecision"], each["MissingContextValues"])
        for each in found["ResourceSpecificResults"]
    ] == [(instance, "implicitDeny", []), (other, decision, missing)]


def test_a_simulation_of_everything_has_no_result_of_a_resource(
    aws: LocalAws, role_arn: str
) -> None:
    (found,) = client(aws, "iam").simulate_principal_policy(
        PolicySourceArn=role_arn, ActionNames=["ec2:DescribeVpcs"]
    )["EvaluationResults"]
    assert (found["EvalResourceName"], found["EvalDecision"]) == ("*", "implicitDeny")
    assert "ResourceSpecificResults" not in found


def test_no_role_is_simulated(aws: LocalAws) -> None:
    with pytest.raises(ClientError, match="NoSuchEntity"):
        client(aws, "iam").simulate_principal_policy(
            PolicySourceArn="arn:aws:iam::000000000000:role/None", ActionNames=["s3:GetObject"]
        )


@pytest.mark.parametrize(("path", "may"), [(PATH, True), ("/", False)])
def test_a_role_is_looked_at_by_its_arn(
    aws: LocalAws, role_arn: str, *, path: str, may: bool
) -> None:
    allowed = {
        "Effect": "Allow",
        "Action": "iam:GetRole",
        "Resource": f"arn:aws:iam::000000000000:role{path}{NAME}",
    }
    own = client_of_user(aws, "iam", allowed)
    if may:
        assert own.get_role(RoleName=NAME)["Role"]["Arn"] == role_arn
        return
    with pytest.raises(ClientError, match="AccessDenied"):
        own.get_role(RoleName=NAME)


POLICY = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": ["s3:PutObject", "s3:DeleteObject"],
                "Resource": f"arn:aws:s3:::{BUCKET}/*on_create.sh",
                # For a session of a role, this is the role's ARN.
                # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
                "Condition": {
                    "ArnNotEquals": {
                        "aws:PrincipalArn": [WRITER, LISTED, f"arn:aws:iam::{ACCOUNT}:root"]
                    }
                },
            }
        ],
    }
)


@pytest.fixture(scope="module")
def bucket(aws: LocalAws) -> LocalAws:
    """Return the local AWS with the bucket, a script in it, users and roles."""
    make_bucket(aws, POLICY)
    return aws


@pytest.mark.parametrize("arn", [OTHER, UNLISTED])
def test_a_policy_denies_to_all_but_those_it_names(bucket: LocalAws, arn: str) -> None:
    s3 = s3_of(bucket, arn)

    for key in (SCRIPT, "own/on_create.sh", "folders/gpu/on_create.sh"):
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.put_object(Bucket=BUCKET, Key=key, Body=b"bad")
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=BUCKET, Key=SCRIPT)
    assert s3.get_object(Bucket=BUCKET, Key=SCRIPT)["Body"].read() == b"good"


@pytest.mark.parametrize("arn", [WRITER, LISTED])
def test_those_that_a_policy_names_can(bucket: LocalAws, arn: str) -> None:
    s3 = s3_of(bucket, arn)

    s3.put_object(Bucket=BUCKET, Key=SCRIPT, Body=b"good")


def test_a_bucket_is_of_its_owner_and_tags_need_a_right(bucket: LocalAws) -> None:
    s3, mine = s3_of(bucket, WRITER), {"Bucket": BUCKET, "Key": SCRIPT}

    s3.get_object(**mine, ExpectedBucketOwner=ACCOUNT)
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.get_object(**mine, ExpectedBucketOwner="999999999999")
    with pytest.raises(ClientError, match="s3:PutObjectTagging"):
        s3.put_object(**mine, Body=b"good", Tagging="a=b")
    client(bucket, "s3").put_object(**mine, Body=b"good", Tagging="a=b")


def test_the_account_can_lift_the_policy(bucket: LocalAws) -> None:
    s3 = client(bucket, "s3")

    s3.delete_bucket_policy(Bucket=BUCKET)
    s3.put_bucket_policy(Bucket=BUCKET, Policy=POLICY)
