"""The lifecycle scripts that nodes fetch."""

from collections.abc import Iterator

from hyperpod_ops.verification.check import Check, Deployment, checked


def scripts(deployment: Deployment) -> Iterator[Check]:
    """Check that the script of new nodes is in the bucket."""
    bucket = deployment.outputs_of("platform")["S3BucketName"]
    prefix = deployment.config.lifecycle_scripts.prefix
    key = "/".join(filter(None, (prefix, "on_create.sh")))
    listed = deployment.client("s3").list_objects_v2(Bucket=bucket, Prefix=key)
    there = key in [item["Key"] for item in listed.get("Contents", ())]
    yield checked(
        f"aws s3 ls s3://{bucket}: {key}",
        problem=None if there else "is not there",
        advice="No node can be made or replaced without it. Run `make deploy` after any change of "
        "the folder lifecycle/, which uploads all of it",
    )
