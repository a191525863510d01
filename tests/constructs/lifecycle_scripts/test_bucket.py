"""The bucket of lifecycle scripts, and the one of its access logs."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.lifecycle_scripts.bucket import LifecycleBucket
from tests.conftest import Configure, Synthesize
from tests.support.configs import default_document
from tests.support.refusals import lines_for


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
