"""Whether an existing bucket can hold the lifecycle scripts."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.validator import Problem, Target
from hyperpod_cli.inspect.preflight.validators.existing_bucket import existing_bucket
from tests.conftest import Configure

Change = Callable[[Any, str], object]

BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
TLS_ONLY = {
    "Sid": "TlsOnly",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": "*",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
ONLY_OURS = {
    "Sid": "OnlyOurs",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:GetObject",
    "Resource": "*",
    "Condition": {"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/Ours"}},
}


def make(target: Target, name: str) -> Any:  # noqa: ANN401 - a client
    """Make a bucket that nothing is wrong with; return the client."""
    s3 = target.client("s3")
    where = {"LocationConstraint": target.region}
    s3.create_bucket(Bucket=name, CreateBucketConfiguration=where)
    s3.put_public_access_block(
        Bucket=name, PublicAccessBlockConfiguration=dict.fromkeys(BLOCKS, True)
    )
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return s3


def put_policy(*statements: object) -> Change:
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    return lambda s3, name: s3.put_bucket_policy(Bucket=name, Policy=document)


def problems(
    configure: Configure, target: Target, name: str, *, key: str | None = None
) -> list[Problem]:
    scripts = {"existing_bucket_name": name, "existing_bucket_kms_key_arn": key}
    return list(existing_bucket(configure({"lifecycle_scripts": scripts}), target))


def test_a_bucket_that_is_made_is_not_looked_at(configure: Configure, target: Target) -> None:
    assert list(existing_bucket(configure({}), target)) == []


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("sagemaker-fine", lambda _s3, _name: None, None),
        ("sagemaker-tls", put_policy(TLS_ONLY), None),
        (
            "sagemaker-public",
            lambda s3, name: s3.delete_public_access_block(Bucket=name),
            "does not block public access",
        ),
        (
            "sagemaker-unversioned",
            lambda s3, name: s3.put_bucket_versioning(
                Bucket=name, VersioningConfiguration={"Status": "Suspended"}
            ),
            "keeps no versions",
        ),
        (
            "sagemaker-denied",
            put_policy(TLS_ONLY, ONLY_OURS),
            "has a policy whose statement OnlyOurs denies something",
        ),
    ],
)
def test_what_may_go_wrong_later_is_a_warning(
    configure: Configure, target: Target, name: str, change: Change, said: str | None
) -> None:
    change(make(target, name), name)
    found = problems(configure, target, name)
    if said is None:
        assert found == []
        return
    (problem,) = found
    assert problem.finding.severity is Severity.WARNING
    assert str(problem.finding).startswith(
        f"lifecycle_scripts.existing_bucket_name: '{name}' {said}"
    )
    assert name in problem.command


def test_a_bucket_of_another_region(configure: Configure, target: Target) -> None:
    name = "sagemaker-elsewhere"
    make(target, name)
    elsewhere = replace(target, region="eu-west-1")
    (problem,) = problems(configure, elsewhere, name)
    assert "is in us-west-2; nodes read their scripts from eu-west-1" in str(problem.finding)


def test_a_key_is_compared_with_that_of_the_bucket(configure: Configure, target: Target) -> None:
    name, kms = "sagemaker-encrypted", target.client("kms")
    s3 = make(target, name)
    key, other = (kms.create_key()["KeyMetadata"] for _ in range(2))

    def lines(configured: str | None) -> list[str]:
        return [str(each.finding) for each in problems(configure, target, name, key=configured)]

    place_of_key = "lifecycle_scripts.existing_bucket_kms_key_arn: "
    (unused,) = lines(key["Arn"])
    assert "does not encrypt sagemaker-encrypted, which no customer key does" in unused

    rule = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key["KeyId"]}
    s3.put_bucket_encryption(
        Bucket=name,
        ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": rule}]},
    )
    (missing,) = lines(None)
    assert missing.startswith(f"{place_of_key}is missing: {name} is encrypted with {key['Arn']}")
    (wrong,) = lines(other["Arn"])
    assert wrong.endswith(f"does not encrypt {name}; {key['Arn']} does")
    assert lines(key["Arn"]) == []

    mine = {"AWS": "arn:aws:iam::111122223333:user/ada"}
    own = {"Effect": "Allow", "Principal": mine, "Action": "kms:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [own]})
    kms.put_key_policy(KeyId=key["KeyId"], PolicyName="default", Policy=document)
    (closed,) = lines(key["Arn"])
    assert 'add to it: {"Sid": "AllowIamPolicies", "Effect": "Allow"' in closed
