"""What IAM says of roles: authorized on their ARNs, and simulated with the caller's context."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import client

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
    iam, user = client(aws, "iam"), f"looks-at{path.replace('/', '-')}"
    iam.create_user(UserName=user)
    allowed = {
        "Effect": "Allow",
        "Action": "iam:GetRole",
        "Resource": f"arn:aws:iam::000000000000:role{path}{NAME}",
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_user_policy(UserName=user, PolicyName="Look", PolicyDocument=document)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    own = client(
        aws,
        "iam",
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
    )
    if may:
        assert own.get_role(RoleName=NAME)["Role"]["Arn"] == role_arn
        return
    with pytest.raises(ClientError, match="AccessDenied"):
        own.get_role(RoleName=NAME)
