"""Rights on what groups name by CDK tokens, such as the key and the bucket of another stack."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms

from hyperpod_cdk import EbsVolumeConfig, InstanceGroupConfig, LifecycleConfig
from hyperpod_cdk.hyperpod.node_permissions import need_statements


def resources(stack: cdk.Stack, **fields: Any) -> dict[str, object]:
    """Return the resources of each statement by its Sid."""
    group = InstanceGroupConfig(
        name="g", instance_type="ml.m5.large", instance_count=1, volume_size_gib=None, **fields
    )
    found = [stack.resolve(s.to_statement_json()) for s in need_statements(stack, [group])]
    return {statement["Sid"]: statement["Resource"] for statement in found}


def test_a_key_of_the_app_is_named_by_its_arn(stack: cdk.Stack) -> None:
    key = kms.Key(stack, "Key")
    volume = EbsVolumeConfig(volume_size_gib=100, kms_key_id=key.key_arn)

    rights = resources(stack, ebs_volumes=(volume,))

    assert rights["DescribeVolumeKeys"] == stack.resolve(key.key_arn)


def test_a_uri_with_a_bucket_of_the_app(stack: cdk.Stack) -> None:
    bucket = cdk.Token.as_string({"Ref": "Bucket"})
    lifecycle = LifecycleConfig(source_s3_uri=f"s3://{bucket}/a/", on_create="x.sh")

    rights = resources(stack, lifecycle=lifecycle)

    arn = stack.resolve(f"arn:{cdk.Aws.PARTITION}:s3:::{bucket}")
    scripts = stack.resolve(f"arn:{cdk.Aws.PARTITION}:s3:::{bucket}/a/*")
    assert rights == {"ListOtherScripts": arn, "ReadOtherScripts": scripts}


def test_a_uri_that_is_a_token_as_a_whole(stack: cdk.Stack) -> None:
    output = {"Fn::ImportValue": "ScriptsUri"}
    uri = cdk.Token.as_string(output)
    lifecycle = LifecycleConfig(source_s3_uri=uri, on_create="x.sh")

    rights = resources(stack, lifecycle=lifecycle)

    start = ["arn:", {"Ref": "AWS::Partition"}, ":s3:::"]
    scripts = {"Fn::Select": [1, {"Fn::Split": ["s3://", output]}]}
    bucket = {"Fn::Select": [0, {"Fn::Split": ["/", scripts]}]}
    assert rights == {
        "ListOtherScripts": {"Fn::Join": ["", [*start, bucket]]},
        "ReadOtherScripts": {"Fn::Join": ["", [*start, scripts, "/*"]]},
    }
