"""Rights on the KMS keys that encrypt nodes' EBS volumes."""

from collections.abc import Iterable

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.schema.limits import is_token
from hyperpod_cdk.synthesis.statements import statement

# What EBS does with a volume's key.
_GRANT_OPERATIONS = [
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncryptFrom",
    "ReEncryptTo",
    "RetireGrant",
]


def volume_key_statements(scope: Construct, key_ids: Iterable[str]) -> list[iam.PolicyStatement]:
    """Return the rights that HyperPod uses to encrypt volumes with these keys; none without a key.

    Through SageMaker only, and grants to AWS services only. The keys' own policies must allow it
    too: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html

    Args:
        scope: A construct of the policy's stack, whose account and region a mere ID is of.
        key_ids: IDs or ARNs of keys; a CDK token stands for an ARN.
    """
    keys = [_key_arn(scope, key_id) for key_id in key_ids]
    if not keys:
        return []
    service = f"sagemaker.{Stack.of(scope).region}.{Aws.URL_SUFFIX}"
    through_sagemaker = {"StringEquals": {"kms:ViaService": service}}
    return [
        statement(
            scope,
            sid="GrantVolumeKeys",
            why="EBS encrypts volumes, through SageMaker alone.",
            added_by="a KMS key of a volume, or `encryption.node_volumes`",
            actions=["kms:CreateGrant"],
            resources=keys,
            conditions={
                **through_sagemaker,
                "Bool": {"kms:GrantIsForAWSResource": "true"},
                "ForAllValues:StringEquals": {"kms:GrantOperations": _GRANT_OPERATIONS},
            },
        ),
        statement(
            scope,
            sid="DescribeVolumeKeys",
            why="EBS looks the key up, through SageMaker alone.",
            added_by="a KMS key of a volume, or `encryption.node_volumes`",
            actions=["kms:DescribeKey"],
            resources=keys,
            conditions=through_sagemaker,
        ),
    ]


def _key_arn(scope: Construct, key_id: str) -> str:
    if key_id.startswith("arn:") or is_token(key_id):
        return key_id
    return Stack.of(scope).format_arn(service="kms", resource="key", resource_name=key_id)
