"""An existing bucket for lifecycle scripts."""

from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct


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
