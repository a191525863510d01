"""The bucket that passes files between the actions of a pipeline."""

from typing import cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge, skip_checkov

# Kept, because a rollback of a stage uses the artifacts of an earlier execution.
_KEPT_DAYS = 90
_UNLOGGED = (
    "Only the pipeline's roles may read it, and the pipeline's history lists each execution that "
    "did; access logs would need a bucket more in each region."
)


class ArtifactBucket(Construct):
    """An encrypted bucket whose objects expire after 90 days, and its key, which is rotated.

    Attributes:
        bucket: The bucket.
        key: Its key, which also encrypts what is told of executions.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Artifacts and notifications of the pipeline",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=Duration.days(7),
        )
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=RemovalPolicy.RETAIN,
        )
        harden_artifacts(self.bucket)


def harden_artifacts(bucket: s3.IBucket) -> None:
    """Let artifacts expire, keep versions, and record why they are neither logged nor copied.

    Args:
        bucket: The bucket, or one that CDK made for actions in another region.
    """
    # L1: what CDK makes for another region is behind an interface.
    resource = cast("s3.CfnBucket", bucket.node.default_child)
    resource.versioning_configuration = s3.CfnBucket.VersioningConfigurationProperty(
        status="Enabled"
    )
    resource.lifecycle_configuration = s3.CfnBucket.LifecycleConfigurationProperty(
        rules=[
            s3.CfnBucket.RuleProperty(
                status="Enabled",
                expiration_in_days=_KEPT_DAYS,
                noncurrent_version_expiration=s3.CfnBucket.NoncurrentVersionExpirationProperty(
                    noncurrent_days=1
                ),
                abort_incomplete_multipart_upload=(
                    s3.CfnBucket.AbortIncompleteMultipartUploadProperty(days_after_initiation=1)
                ),
            )
        ]
    )
    acknowledge(
        bucket,
        {
            "AwsSolutions-S1": _UNLOGGED,
            f"{NIST}S3BucketLoggingEnabled": _UNLOGGED,
            f"{NIST}S3BucketReplicationEnabled": (
                "Each execution writes its artifacts again, and they expire; a copy would only "
                "cost."
            ),
        },
    )
    skip_checkov(bucket, resource_type="AWS::S3::Bucket", reasons={"CKV_AWS_18": _UNLOGGED})
