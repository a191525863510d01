"""The key `data_buckets` of the `cluster` section: buckets that the nodes read."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.arns import BucketName, KmsKeyArn
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.schema.section import Section

# Part of a resource in an IAM policy, so it must not contain wildcards or variables.
ObjectPrefix = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9!_.=-]+(/[A-Za-z0-9!_.=-]+)*$", max_length=512),
    Message(
        "must be a prefix such as datasets/c4, of letters, digits and !_.=- between slashes, "
        "without a slash at its ends"
    ),
]


class DataBucketConfig(Section):
    """A bucket, or a prefix in one, that the nodes' role reads."""

    name: BucketName
    """Name of the bucket."""

    prefix: Annotated[ObjectPrefix | None, Field(examples=["elsewhere"])] = None
    """What the keys of the objects begin with, up to a slash. Default: every object."""

    kms_key_arn: KmsKeyArn | None = None
    """ARN of the KMS key that encrypts the objects, in the region of the bucket; the key's own
    policy must allow it too. Default: none, as with keys of S3."""

    @property
    def path(self) -> str:
        """The bucket and the prefix."""
        return self.name if self.prefix is None else f"{self.name}/{self.prefix}"


def data_bucket_findings(buckets: Sequence[DataBucketConfig]) -> Iterator[Finding]:
    """Find buckets that a list names again."""
    for index, bucket in enumerate(buckets):
        if any(bucket.path == before.path for before in buckets[:index]):
            message = "is listed twice with this prefix; list it once"
            yield Finding(path=(index, "name"), value=bucket.name, message=message)
