"""Keys as services ask for them in the local AWS: their policies, their states, and rights."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    client,
    client_of_user,
    deploy,
    file_system,
    network,
)

REGION = "us-west-2"
# KMS's default: https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
ADMINISTRATION = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
    "Action": "kms:*",
    "Resource": "*",
}


def by_logs(*names: str) -> dict[str, Any]:
    """Return the statement that lets CloudWatch Logs encrypt some groups.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    arns = [f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}" for name in names]
    return {
        "Effect": "Allow",
        "Principal": {"Service": f"logs.{REGION}.amazonaws.com"},
        "Action": [
            "kms:Decrypt",
            "kms:DescribeKey",
            "kms:Encrypt",
            "kms:GenerateDataKey*",
            "kms:ReEncrypt*",
        ],
        "Resource": "*",
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": arns}},
    }


def key(aws: LocalAws, *statements: dict[str, Any]) -> str:
    policy = {"Version": "2012-10-17", "Statement": statements}
    made = client(aws, "kms").create_key(Policy=json.dumps(policy))["KeyMetadata"]
    arn: str = made["Arn"]
    return arn


def log_group(kms_key: str, **properties: Any) -> Template:
    return {"Type": "AWS::Logs::LogGroup", "Properties": {"KmsKeyId": kms_key, **properties}}


def test_logs_encrypt_a_group_that_the_policy_names(aws: LocalAws) -> None:
    allowed = key(aws, ADMINISTRATION, by_logs("/kms/*", "kms-logs-*"))
    groups = {
        "Named": log_group(allowed, LogGroupName="/kms/named"),
        "Generated": log_group(allowed),
    }

    deploy(aws, groups, {}, name="kms-logs")

    [found] = client(aws, "logs").describe_log_groups(logGroupNamePrefix="/kms/")["logGroups"]
    assert found["kmsKeyId"] == allowed


@pytest.mark.parametrize(
    "statements",
    [
        [ADMINISTRATION],
        [ADMINISTRATION, by_logs("/another/*")],
        [ADMINISTRATION, {**by_logs("/refused/*"), "Action": ["kms:Decrypt"]}],
    ],
)
def test_a_group_is_refused_whose_key_logs_may_not_use(
    aws: LocalAws, statements: list[dict[str, Any]]
) -> None:
    group = log_group(key(aws, *statements), LogGroupName="/refused/group")
    with pytest.raises(StackFailedError, match="is not allowed to be used with Arn"):
        deploy(aws, {"Logs": group}, {})


def test_a_group_that_is_there_gets_a_key_only_if_logs_may_use_it(aws: LocalAws) -> None:
    plain = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/later/group"}}
    stack = deploy(aws, {"Logs": plain}, {})
    refused = log_group(key(aws, ADMINISTRATION), LogGroupName="/later/group")
    with pytest.raises(StackFailedError, match="is not allowed to be used"):
        deploy(aws, {"Logs": refused}, {}, stack=stack.name)
    allowed = log_group(key(aws, by_logs("/later/*")), LogGroupName="/later/group")
    deploy(aws, {"Logs": allowed}, {}, stack=stack.name)


def test_a_file_system_is_refused_with_a_disabled_key(aws: LocalAws) -> None:
    disabled = key(aws, ADMINISTRATION)
    client(aws, "kms").disable_key(KeyId=disabled)
    with pytest.raises(StackFailedError, match=f"KMS key {disabled} is Disabled"):
        deploy(aws, {**network(), "FileSystem": file_system(KmsKeyId=disabled)}, {})


def test_who_puts_and_gets_an_encrypted_object_needs_the_key(aws: LocalAws) -> None:
    kms_key = key(aws, ADMINISTRATION)
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {
            "BucketName": "encrypted-objects",
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {
                        "BucketKeyEnabled": True,
                        "ServerSideEncryptionByDefault": {
                            "SSEAlgorithm": "aws:kms",
                            "KMSMasterKeyID": kms_key,
                        },
                    }
                ]
            },
        },
    }
    deploy(aws, {"Bucket": bucket}, {})
    objects = {"Effect": "Allow", "Action": "s3:*Object", "Resource": "arn:aws:s3:::encrypted-*"}
    use = {
        "Effect": "Allow",
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Resource": kms_key,
        "Condition": {
            "StringEquals": {"kms:ViaService": "s3.us-west-2.amazonaws.com"},
            "ArnLike": {"kms:EncryptionContext:aws:s3:arn": "arn:aws:s3:::encrypted-objects"},
        },
    }
    stranger, reader = (
        client_of_user(aws, "s3", *rights) for rights in ([objects], [objects, use])
    )
    place = {"Bucket": "encrypted-objects", "Key": "a"}

    with pytest.raises(ClientError, match="kms:GenerateDataKey"):
        stranger.put_object(**place, Body=b"a")
    assert reader.put_object(**place, Body=b"a")["SSEKMSKeyId"] == kms_key
    with pytest.raises(ClientError, match="kms:Decrypt"):
        stranger.get_object(**place)
    assert reader.get_object(**place)["Body"].read() == b"a"
    client(aws, "kms").disable_key(KeyId=kms_key)
    with pytest.raises(ClientError) as error:
        reader.get_object(**place)
    assert error.value.response["Error"]["Code"] == "KMS.DisabledException"
