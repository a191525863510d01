"""What the nodes' role may do with buckets of data: read them."""

from collections.abc import Iterator, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.data_bucket import DataBucketConfig
from hyperpod_cdk.synthesis.acknowledge import wildcard_nag_id
from hyperpod_cdk.synthesis.statements import statement


def data_bucket_statements(
    scope: Construct, buckets: Sequence[DataBucketConfig]
) -> Iterator[iam.PolicyStatement]:
    """Yield the rights to read the buckets; none without one."""
    whole = [_bucket_arn(bucket) for bucket in buckets if bucket.prefix is None]
    if whole:
        yield statement(
            scope,
            sid="ListDataBuckets",
            why="A node finds data in the buckets of `cluster.data_buckets`.",
            added_by="`cluster.data_buckets`",
            actions=["s3:ListBucket"],
            resources=whole,
        )
    for number, bucket in enumerate(each for each in buckets if each.prefix is not None):
        yield statement(
            scope,
            sid=f"ListDataPrefix{number}",
            why="A node finds data below a prefix of `cluster.data_buckets`.",
            added_by="`cluster.data_buckets`",
            actions=["s3:ListBucket"],
            resources=[_bucket_arn(bucket)],
            conditions={"StringLike": {"s3:prefix": [bucket.prefix, f"{bucket.prefix}/*"]}},
        )
    if buckets:
        yield statement(
            scope,
            sid="ReadData",
            why="A node reads the data of `cluster.data_buckets`.",
            added_by="`cluster.data_buckets`",
            actions=["s3:GetObject"],
            resources=[_objects(bucket) for bucket in buckets],
        )
    keys = dict.fromkeys(each.kms_key_arn for each in buckets if each.kms_key_arn is not None)
    if keys:
        yield statement(
            scope,
            sid="DecryptData",
            why="A node reads data that a key of yours encrypts, through S3 alone.",
            added_by="`cluster.data_buckets`",
            actions=["kms:Decrypt"],
            resources=list(keys),
            # Any region: a bucket and its key may be in another one than the nodes.
            conditions={"StringLike": {"kms:ViaService": f"s3.*.{Aws.URL_SUFFIX}"}},
        )


def data_bucket_acknowledgments(
    scope: Construct, buckets: Sequence[DataBucketConfig]
) -> dict[str, str]:
    """Return why each wildcard of `data_bucket_statements` is accepted, by its cdk-nag id."""
    return {
        wildcard_nag_id(scope, _objects(bucket)): (
            "Objects of a bucket or prefix of data that the configuration names; read only."
        )
        for bucket in buckets
    }


def _bucket_arn(bucket: DataBucketConfig) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{bucket.name}"


def _objects(bucket: DataBucketConfig) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{bucket.path}/*"
