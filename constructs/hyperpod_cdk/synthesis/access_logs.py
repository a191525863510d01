"""The bucket for the access logs of another one."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge, skip_checkov

_DAYS = 90


def access_log_bucket(
    scope: Construct, construct_id: str, *, expire_after_days: int | None = None
) -> s3.Bucket:
    """Return a bucket for access logs, which is retained.

    Args:
        scope: Parent.
        construct_id: Id.
        expire_after_days: When logs go. Default: after 90 days.
    """
    access_logs = s3.Bucket(
        scope,
        construct_id,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        versioned=True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        lifecycle_rules=[
            s3.LifecycleRule(
                expiration=Duration.days(expire_after_days or _DAYS),
                noncurrent_version_expiration=Duration.days(1),
                abort_incomplete_multipart_upload_after=Duration.days(1),
            )
        ],
        removal_policy=RemovalPolicy.RETAIN,
    )
    acknowledge(
        access_logs,
        {
            "AwsSolutions-S1": "This bucket holds the access logs; logging it would never end.",
            # https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
            f"{NIST}S3DefaultEncryptionKMS": (
                "S3 delivers access logs to buckets that it encrypts with its own keys only."
            ),
        },
    )
    skip_checkov(
        access_logs,
        resource_type="AWS::S3::Bucket",
        reasons={"CKV_AWS_18": "It holds the access logs; logging it would never end."},
    )
    return access_logs
