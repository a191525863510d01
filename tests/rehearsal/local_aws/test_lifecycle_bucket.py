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
from hyperpod_emulator.testing.stacks import client
from tests.support.assembly import new_app


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
            known = f"arn:aws:s3:::{BUCKET}", LISTED
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
    """Return the local AWS with the bucket, a script in it, users and roles."""
    make_bucket(aws, policy)
    return aws


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


@pytest.mark.parametrize("arn", [WRITER, LISTED])
def test_the_provisioner_and_a_named_writer_can(bucket: LocalAws, arn: str) -> None:
    s3 = s3_of(bucket, arn)

    s3.put_object(Bucket=BUCKET, Key=SCRIPT, Body=b"good")


def test_the_account_can_lift_the_policy(bucket: LocalAws, policy: str) -> None:
    s3 = client(bucket, "s3")

    s3.delete_bucket_policy(Bucket=BUCKET)
    s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)
