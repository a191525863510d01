"""A bucket of scripts whose policy names who may write them, and those who try."""

import json
from typing import Any

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.stacks import client, key_of_user

BUCKET, SCRIPT = "sagemaker-writers", "on_create.sh"
WRITER, OTHER = (f"arn:aws:iam::{ACCOUNT}:user/{name}" for name in ("writer", "other"))
LISTED, UNLISTED = (f"arn:aws:iam::{ACCOUNT}:role/path/{name}" for name in ("pr", "other"))
# As AWS managed policies for SageMaker allow it.
_ANY_OBJECT = {
    "Effect": "Allow",
    "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
    "Resource": "arn:aws:s3:::*sagemaker*",
}


def make_bucket(aws: LocalAws, policy: str) -> None:
    """Make the bucket with a policy, a script in it, and two users and two roles."""
    s3, iam = client(aws, "s3"), client(aws, "iam")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket=BUCKET, Key=SCRIPT, Body=b"good")
    s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)
    document = json.dumps({"Version": "2012-10-17", "Statement": [_ANY_OBJECT]})
    for arn in (WRITER, OTHER):
        name = arn.rpartition("/")[2]
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=document)
    trust = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
        "Action": "sts:AssumeRole",
    }
    trusting = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    for arn in (LISTED, UNLISTED):
        name = arn.rpartition("/")[2]
        iam.create_role(RoleName=name, Path="/path/", AssumeRolePolicyDocument=trusting)
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document)


def s3_of(aws: LocalAws, arn: str) -> Any:  # noqa: ANN401 - a client
    """Return the S3 of one of the users and roles."""
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
