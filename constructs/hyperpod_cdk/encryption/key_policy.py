"""What the policy of a customer managed key must allow besides what IAM policies allow."""

from collections.abc import Iterable, Mapping
from typing import Any

# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
_ENCRYPTION = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
)


def administration(*, partition: str, account: str) -> dict[str, Any]:
    """Return the statement that lets the account's IAM policies decide, as KMS's default policy.

    What deploys, the provisioner and the nodes have their rights on the key by their own policies.
    https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
    """
    return {
        "Sid": "LetIamPoliciesDecide",
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:{partition}:iam::{account}:root"},
        "Action": "kms:*",
        "Resource": "*",
    }


def log_group_arns(names: Iterable[str], *, partition: str, region: str, account: str) -> list[str]:
    """Return the ARNs of log groups, or their patterns, as the policy of a key has them."""
    prefix = f"arn:{partition}:logs:{region}:{account}:log-group"
    return [f"{prefix}:{name}" for name in sorted({*names})]


def encryption_of_logs(arns: object, *, region: str, dns_suffix: str) -> dict[str, Any]:
    """Return the statement that lets CloudWatch Logs encrypt the groups of ARNs, and no others."""
    return {
        "Sid": "EncryptLogs",
        "Effect": "Allow",
        "Principal": {"Service": f"logs.{region}.{dns_suffix}"},
        "Action": [*_ENCRYPTION],
        "Resource": "*",
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": arns}},
    }


def encryption_of_scaled_volumes(
    *, partition: str, region: str, account: str, dns_suffix: str
) -> list[dict[str, Any]]:
    """Return the statements that let EC2 Auto Scaling encrypt the volumes of what it launches.

    Its role is known by its ARN in a condition, for KMS takes no principal that is not there yet,
    and the role is made with the first group of the account.
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html
    """
    role = "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
    by_role = {
        "ArnEquals": {
            "aws:PrincipalArn": f"arn:{partition}:iam::{account}:role/aws-service-role/{role}"
        }
    }
    within = {
        "kms:CallerAccount": account,
        "kms:ViaService": f"ec2.{region}.{dns_suffix}",
    }
    allowed = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Resource": "*"}
    return [
        {
            **allowed,
            "Sid": "EncryptScaledVolumes",
            "Action": [*_ENCRYPTION],
            "Condition": {**by_role, "StringEquals": within},
        },
        {
            **allowed,
            "Sid": "GrantScaledVolumes",
            "Action": "kms:CreateGrant",
            "Condition": {
                **by_role,
                "StringEquals": within,
                "Bool": {"kms:GrantIsForAWSResource": "true"},
            },
        },
    ]


def through_s3(*, region: str, dns_suffix: str, bucket_arn: str) -> Mapping[str, Any]:
    """Return the condition that a key is used by S3 alone, for the objects of one bucket.

    With a bucket key, S3 names the bucket; without, the object.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html
    """
    return {
        "StringEquals": {"kms:ViaService": f"s3.{region}.{dns_suffix}"},
        "ArnLike": {"kms:EncryptionContext:aws:s3:arn": [bucket_arn, f"{bucket_arn}/*"]},
    }
