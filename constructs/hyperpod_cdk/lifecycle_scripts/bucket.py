"""The bucket that nodes fetch their lifecycle scripts from."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.synthesis.access_logs import access_log_bucket
from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge


class LifecycleBucket(Construct):
    """An S3 bucket for lifecycle scripts, with a second one for its access logs.

    Encrypted, versioned, TLS only, no public access. Deleting the stack deletes the bucket only
    while it is empty: CloudFormation never empties it, so a file of yours in it stops the
    deletion. The log bucket is retained and its logs expire after 90 days.

    Args:
        bucket_name: Must start with `sagemaker-`: the managed policy of HyperPod nodes reads no
            other bucket
            (https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerClusterInstanceRolePolicy.html).

    Attributes:
        bucket: The bucket.

    Raises:
        ValueError: The name does not start with `sagemaker-`.
    """

    def __init__(self, scope: Construct, construct_id: str, *, bucket_name: str) -> None:
        super().__init__(scope, construct_id)
        if not bucket_name.startswith("sagemaker-"):
            raise ValueError(f"bucket_name {bucket_name!r} must start with 'sagemaker-'")
        access_logs = access_log_bucket(self, "AccessLogs")
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=access_logs,
            server_access_logs_prefix="lifecycle-scripts/",
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.bucket,
            {
                f"{NIST}S3DefaultEncryptionKMS": (
                    "Scripts hold no secret; S3 encrypts them, and a key would have to be shared "
                    "with every role of nodes."
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
