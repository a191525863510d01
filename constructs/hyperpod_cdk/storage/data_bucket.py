"""The bucket of a data repository that the configuration asks for."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.synthesis.access_logs import access_log_bucket
from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge

_KEPT_VERSIONS = Duration.days(30)


class DataBucket(Construct):
    """An S3 bucket for the files of a file system, with a second one for its access logs.

    Encrypted, versioned, TLS only, no public access, and retained with its objects. What a file or
    an object was before a change or a deletion stays for 30 days.

    CloudFormation names it. A name with `sagemaker` would open it to every role that has an AWS
    managed policy of SageMaker, the nodes' among them; FSx reads and writes by a role of its own.

    Attributes:
        bucket: The bucket.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=access_log_bucket(self, "AccessLogs"),
            server_access_logs_prefix="data/",
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=_KEPT_VERSIONS,
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        acknowledge(
            self.bucket,
            {
                f"{NIST}S3DefaultEncryptionKMS": (
                    "S3 encrypts it; FSx's service-linked role would need a grant on a key of its "
                    "own."
                )
            },
        )
        acknowledge(
            self,
            {
                f"{NIST}S3BucketReplicationEnabled": (
                    "It is versioned, and the file system holds what is in use; a copy in another "
                    "region is for whoever needs one to choose."
                )
            },
        )
