"""The policy of the bucket with the lifecycle scripts, enforced."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from botocore.exceptions import ClientError

from hyperpod_cdk import LifecycleBucket, LifecycleScripts, Provisioner
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.stacks import client, key_of_user
from tests.support.assembly import new_app

BUCKET, SCRIPT = "sagemaker-writers", "on_create.sh"
WRITER, OTHER = (f"arn:aws:iam::{ACCOUNT}:user/{name}" for name in ("writer", "other"))
PROVISIONER, UNLISTED = (f"arn:aws:iam::{ACCOUNT}:role/path/{name}" for name in ("pr", "other"))
# As AWS managed policies for SageMaker allow it.
ANY_OBJECT = {
    "Effect": "Allow",
    "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
    "Resource": "arn:aws:s3:::*sagemaker*",
}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the bucket's policy as CloudFormation would fill it in."""
    stack = cdk.Stack(new_app(tmp_path_factory.mktemp("stack")), "Stack")
    folder: Path = tmp_path_factory.mktemp("scripts")
    (folder / SCRIPT).write_text("#!/bin/bash\n")
    LifecycleScripts(
        stack,
        "Scripts",
        bucket=LifecycleBucket(stack, "Bucket", bucket_name=BUCKET).bucket,
        provisioner=Provisioner(stack, "Provisioner"),
        project=ScriptFolder(directory=folder),
        writers=[WRITER],
    )
    policies = Template.from_stack(stack).find_resources("AWS::S3::BucketPolicy").values()
    (statement,) = (
        statement
        for item in policies
        for statement in item["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "KeepScripts"
    )
    return json.dumps({"Version": "2012-10-17", "Statement": [filled_in(statement)]})


def filled_in(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case {"Fn::Join": [separator, parts]}:
            return separator.join(filled_in(part) for part in parts)
        case {"Fn::GetAtt": [str(name), "Arn"]}:
            known = f"arn:aws:s3:::{BUCKET}", PROVISIONER
            return known["Provisioner" in name]
        case {"Ref": str(name)}:
            return {"AWS::Partition": "aws", "AWS::AccountId": ACCOUNT}[name]
        case dict():
            return {key: filled_in(item) for key, item in value.items()}
        case list():
            return [filled_in(item) for item in value]
    return value


@pytest.fixture(scope="module")
def bucket(aws: LocalAws, policy: str) -> LocalAws:
    """Return the local AWS with the bucket, a script in it and two users."""
    s3, iam = client(aws, "s3"), client(aws, "iam")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket=BUCKET, Key=SCRIPT, Body=b"good")
    s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)
    document = json.dumps({"Version": "2012-10-17", "Statement": [ANY_OBJECT]})
    for arn in (WRITER, OTHER):
        name = arn.rpartition("/")[2]
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=document)
    for arn in (PROVISIONER, UNLISTED):
        name = arn.rpartition("/")[2]
        trust = {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
            "Action": "sts:AssumeRole",
        }
        trusting = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        iam.create_role(RoleName=name, Path="/path/", AssumeRolePolicyDocument=trusting)
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document)
    return aws


def s3_of(aws: LocalAws, arn: str) -> Any:  # noqa: ANN401 - a client
    if ":role/" in arn:
        sts = client(aws, "sts")
        session = sts.assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        return client(
            aws,
            "s3",
            aws_access_key_id=session["AccessKeyId"],
            aws_secret_access_key=session["SecretAccessKey"],
            aws_session_token=session["SessionToken"],
        )
    return client(aws, "s3", **key_of_user(aws, arn.rpartition("/")[2]))


@pytest.mark.parametrize("arn", [OTHER, UNLISTED])
def test_who_may_write_every_bucket_of_sagemaker_cannot_change_a_script(
    bucket: LocalAws, arn: str
) -> None:
    s3 = s3_of(bucket, arn)

    for key in (SCRIPT, "own/on_create.sh", "folders/gpu/on_create.sh"):
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.put_object(Bucket=BUCKET, Key=key, Body=b"bad")
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=BUCKET, Key=SCRIPT)
    assert s3.get_object(Bucket=BUCKET, Key=SCRIPT)["Body"].read() == b"good"


@pytest.mark.parametrize("arn", [WRITER, PROVISIONER])
def test_the_provisioner_and_a_named_writer_can(bucket: LocalAws, arn: str) -> None:
    s3 = s3_of(bucket, arn)

    s3.put_object(Bucket=BUCKET, Key=SCRIPT, Body=b"good")


def test_the_account_can_lift_the_policy(bucket: LocalAws, policy: str) -> None:
    s3 = client(bucket, "s3")

    s3.delete_bucket_policy(Bucket=BUCKET)
    s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)
