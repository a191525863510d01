"""The bucket of lifecycle scripts, and the one of its access logs."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.lifecycle_scripts.bucket import LifecycleBucket
from tests.constructs.conftest import View
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
