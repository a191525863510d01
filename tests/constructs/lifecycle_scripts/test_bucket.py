"""The bucket of lifecycle scripts, and the one of its access logs."""

from collections.abc import Callable, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.lifecycle_scripts.bucket import LifecycleBucket
from tests.conftest import Configure, Synthesize
from tests.constructs.conftest import View
from tests.support.configs import default_document
from tests.support.refusals import lines_for
from tests.support.template_view import TemplateView

BUCKET = "AWS::S3::Bucket"
NAME = "sagemaker-ml"


@pytest.fixture
def seen(stack: cdk.Stack, view: View) -> TemplateView:
    LifecycleBucket(stack, "LifecycleBucket", bucket_name=NAME)
    return view()


def test_both_buckets_are_private_encrypted_and_versioned(
    seen: TemplateView, template: Callable[[], Template]
) -> None:
    blocked = ["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"]

    assert len(seen.ids(BUCKET)) == 2
    template().all_resources_properties(
        BUCKET,
        {
            "PublicAccessBlockConfiguration": dict.fromkeys(blocked, True),
            "VersioningConfiguration": {"Status": "Enabled"},
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
                ]
            },
        },
    )


def test_both_buckets_refuse_plain_http(
    seen: TemplateView, template: Callable[[], Template]
) -> None:
    for bucket in seen.ids(BUCKET):
        arn = {"Fn::GetAtt": [bucket, "Arn"]}
        template().has_resource_properties(
            "AWS::S3::BucketPolicy",
            {
                "Bucket": {"Ref": bucket},
                "PolicyDocument": {
                    "Statement": Match.array_with(
                        [
                            {
                                "Effect": "Deny",
                                "Principal": {"AWS": "*"},
                                "Action": "s3:*",
                                "Resource": [arn, {"Fn::Join": ["", [arn, "/*"]]}],
                                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                            }
                        ]
                    )
                },
            },
        )


def test_access_is_logged_to_a_bucket_of_its_own(seen: TemplateView) -> None:
    scripts = seen.one(BUCKET, BucketName=NAME)
    logs = scripts["LoggingConfiguration"]["DestinationBucketName"]["Ref"]
    (rule,) = seen.resources[logs]["Properties"]["LifecycleConfiguration"]["Rules"]

    assert logs != seen.id(BUCKET, BucketName=NAME)
    assert rule["ExpirationInDays"] == 90
    assert rule["Status"] == "Enabled"


def test_deleting_the_stack_never_empties_a_bucket(seen: TemplateView) -> None:
    scripts = seen.id(BUCKET, BucketName=NAME)
    policies = {name: seen.resources[name]["DeletionPolicy"] for name in seen.ids(BUCKET)}

    assert policies.pop(scripts) == "Delete"
    assert list(policies.values()) == ["Retain"]
    assert not [
        resource
        for resource in seen.resources.values()
        if resource["Type"].startswith("Custom::") or resource["Type"] == "AWS::Lambda::Function"
    ]


@pytest.mark.parametrize("name", ["ml-scripts", "Sagemaker-ml", "my-sagemaker-ml"])
def test_a_name_that_nodes_could_not_read_is_refused(stack: cdk.Stack, name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' must start with 'sagemaker-'"):
        LifecycleBucket(stack, "LifecycleBucket", bucket_name=name)


KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
THROUGH_S3 = {"kms:ViaService": {"Fn::Join": ["", ["s3.us-west-2.", {"Ref": "AWS::URLSuffix"}]]}}


def statements(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statements of all policies of roles by their names."""
    return {
        statement.get("Sid", ""): statement
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
    }


@pytest.mark.parametrize("key", [None, KEY])
def test_nothing_is_made_or_changed_and_the_rights_follow(
    configure: Configure, synthesize: Synthesize, key: str | None
) -> None:
    scripts = {"existing_bucket_name": "my-scripts", "existing_bucket_kms_key_arn": key}
    platform = synthesize(configure({"lifecycle_scripts": scripts}))["ml-platform"]

    platform.resource_count_is("AWS::S3::Bucket", 0)
    platform.resource_count_is("AWS::S3::BucketPolicy", 0)
    platform.has_resource_properties(
        "Custom::LifecycleScripts",
        {"DestinationBucket": "my-scripts", "DestinationOwner": "user", "Prefix": "hyperpod/ml"},
    )
    platform.has_output("S3BucketName", {"Value": "my-scripts"})
    found = statements(platform.to_json())
    read = str(found["ReadScripts"]["Resource"])
    assert ":s3:::my-scripts/hyperpod/ml/*" in read
    for name, action in (
        ("DecryptScripts", "kms:Decrypt"),
        ("EncryptScripts", "kms:GenerateDataKey"),
    ):
        if key is None:
            assert name not in found
            continue
        assert found[name]["Action"] == action
        assert found[name]["Resource"] == key
        assert found[name]["Condition"] == {
            "StringEquals": THROUGH_S3,
            "ArnLike": {
                "kms:EncryptionContext:aws:s3:arn": [
                    "arn:aws:s3:::my-scripts",
                    "arn:aws:s3:::my-scripts/*",
                ]
            },
        }


@pytest.mark.parametrize(
    ("scripts", "place"),
    [
        (
            {"existing_bucket_name": "mine", "bucket_name": "sagemaker-x"},
            "lifecycle_scripts.bucket_name",
        ),
        (
            {"existing_bucket_name": "mine", "writers": ["arn:aws:iam::111122223333:role/CI"]},
            "lifecycle_scripts.writers",
        ),
        ({"existing_bucket_kms_key_arn": KEY}, "lifecycle_scripts.existing_bucket_kms_key_arn"),
        ({"bucket_name": "scripts"}, "lifecycle_scripts.bucket_name"),
        ({"bucket_name": "sagemaker-A"}, "lifecycle_scripts.bucket_name"),
        ({"bucket_name": "sagemaker-x-s3alias"}, "lifecycle_scripts.bucket_name"),
        ({"bucket_name": f"sagemaker-{'x' * 54}"}, "lifecycle_scripts.bucket_name"),
        ({"existing_bucket_name": "s3://mine"}, "lifecycle_scripts.existing_bucket_name"),
    ],
)
def test_what_does_not_go_together_is_told(
    scripts: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (found,) = lines_for({**default_document(), "lifecycle_scripts": scripts})
    assert place in found.partition(": ")[0]
    assert found == snapshot


def test_a_name_is_used(configure: Configure, synthesize: Synthesize) -> None:
    name = f"sagemaker-{'x' * 53}"
    platform = synthesize(configure({"lifecycle_scripts": {"bucket_name": name}}))["ml-platform"]
    platform.has_resource_properties("AWS::S3::Bucket", {"BucketName": name})
