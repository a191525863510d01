"""The bucket of the lifecycle scripts: one that is made, or one that exists."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.lifecycle_scripts.section import LifecycleScriptsConfig
from hyperpod_cdk.synthesis.logs import access_log_bucket
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge
from hyperpod_cdk.synthesis.refusals import FixedValue


class ImportedBucket(Construct):
    """An S3 bucket that exists, with the attributes of `LifecycleBucket`.

    Nothing of it is changed: no policy, no encryption, no versioning.

    Args:
        bucket_name: Its name.
        kms_key_arn: ARN of the customer key that encrypts it. Default: none.

    Attributes:
        bucket: The bucket.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket_name: str,
        kms_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket.from_bucket_attributes(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption_key=(
                None if kms_key_arn is None else kms.Key.from_key_arn(self, "Key", kms_key_arn)
            ),
        )


class LifecycleBucket(Construct):
    """An S3 bucket for lifecycle scripts, with a second one for its access logs.

    Encrypted, versioned, TLS only, no public access. Deleting the stack deletes the bucket only
    while it is empty: CloudFormation never empties it, so a file of yours in it stops the
    deletion. The log bucket is retained and its logs expire.

    Args:
        bucket_name: Must start with `sagemaker-`: the managed policy of HyperPod nodes reads no
            other bucket
            (https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerClusterInstanceRolePolicy.html).
        encryption_key: KMS key of the objects; nodes with roles of their own need `kms:Decrypt` on
            it. Default: S3's own keys.
        access_log_days: When access logs expire. Default: after 90 days.

    Attributes:
        bucket: The bucket.

    Raises:
        ValueError: The name does not start with `sagemaker-`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket_name: str,
        encryption_key: kms.IKey | None = None,
        access_log_days: int | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        if not bucket_name.startswith("sagemaker-"):
            raise ValueError(f"bucket_name {bucket_name!r} must start with 'sagemaker-'")
        access_logs = access_log_bucket(self, "AccessLogs", expire_after_days=access_log_days)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption=s3.BucketEncryption.KMS
            if encryption_key
            else s3.BucketEncryption.S3_MANAGED,
            encryption_key=encryption_key,
            # One call of KMS for many objects, and one ARN for all of them in its policies.
            bucket_key_enabled=True if encryption_key else None,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=access_logs,
            server_access_logs_prefix="lifecycle-scripts/",
            removal_policy=RemovalPolicy.DESTROY,
        )
        if encryption_key is None:
            acknowledge(
                self.bucket,
                {
                    f"{NIST}S3DefaultEncryptionKMS": (
                        "Scripts hold no secret; S3 encrypts them, and a key would have to be "
                        "shared with every role of nodes."
                    )
                },
            )
        acknowledge(
            self,
            {
                f"{NIST}S3BucketReplicationEnabled": (
                    "A deployment writes the scripts again, and access logs expire; a copy would "
                    "only cost."
                )
            },
        )


def lifecycle_bucket_of(
    scope: Construct,
    construct_id: str,
    *,
    lifecycle_scripts: LifecycleScriptsConfig,
    default_name: str,
    encryption_key: kms.IKey | None = None,
    access_log_days: int | None = None,
) -> LifecycleBucket | ImportedBucket:
    """Return the bucket of the scripts: one that is made, or the one that is named.

    Args:
        scope: Where it is made.
        construct_id: Id.
        lifecycle_scripts: Names the bucket, if at all.
        default_name: Name of one that is made, unless it is configured.
        encryption_key: As for `LifecycleBucket`.
        access_log_days: As for `LifecycleBucket`.
    """
    existing = lifecycle_scripts.existing_bucket_name
    FixedValue(
        scope,
        f"{construct_id}Name",
        key=("lifecycle_scripts", "bucket_name" if existing is None else "existing_bucket_name"),
        value=lifecycle_scripts.bucket_name if existing is None else f"{existing} (existing)",
        reason="the nodes that run read the former bucket",
        instead="deploy under another name",
    )
    if existing is not None:
        return ImportedBucket(
            scope,
            construct_id,
            bucket_name=existing,
            kms_key_arn=lifecycle_scripts.existing_bucket_kms_key_arn,
        )
    return LifecycleBucket(
        scope,
        construct_id,
        bucket_name=lifecycle_scripts.bucket_name or default_name,
        encryption_key=encryption_key,
        access_log_days=access_log_days,
    )
