"""Objects in S3: reading an asset, removing a key with all its versions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from hyperpod_shared.aws_errors import AWS_ERRORS, code, is_not_found
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.api import S3Api
from provisioner.framework.retry import Clock, aws_retried

_DELETE_BATCH = 1000  # https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html


def read_object(s3: S3Api, *, bucket: str, key: str, clock: Clock) -> bytes:
    """Return an object's content.

    Raises:
        ProvisioningError: There is no such object.
    """
    try:
        content = aws_retried(
            lambda: bytes(s3.get_object(Bucket=bucket, Key=key)["Body"].read()), clock=clock
        )
    except AWS_ERRORS as error:
        if not is_not_found(error):
            raise
        raise ProvisioningError(
            f"The asset s3://{bucket}/{key} does not exist",
            detail=code(error),
            next_step="Deploy again, so that the CDK CLI uploads its assets.",
        ) from error
    return content


def remove_keys(s3: S3Api, *, bucket: str, keys: Sequence[str], clock: Clock) -> None:
    """Remove every version and delete marker of the keys; a bucket that is gone is a success.

    Raises:
        ProvisioningError: S3 kept some of them.
    """
    try:
        versions = [version for key in keys for version in _versions(s3, bucket, key, clock)]
        for start in range(0, len(versions), _DELETE_BATCH):
            _delete(s3, bucket, versions[start : start + _DELETE_BATCH], clock)
    except AWS_ERRORS as error:
        if code(error) != "NoSuchBucket":
            raise


def _delete(s3: S3Api, bucket: str, versions: Sequence[Mapping[str, str]], clock: Clock) -> None:
    answer = aws_retried(
        lambda: s3.delete_objects(Bucket=bucket, Delete={"Objects": versions, "Quiet": True}),
        clock=clock,
    )
    kept = answer.get("Errors") or []
    if kept:
        raise ProvisioningError(
            f"S3 kept {len(kept)} objects in {bucket}, the first is {kept[0].get('Key')}",
            detail=f"{kept[0].get('Code')}: {kept[0].get('Message')}",
            next_step="Allow the function to delete object versions there, then retry.",
        )


def _versions(s3: S3Api, bucket: str, key: str, clock: Clock) -> Iterator[dict[str, str]]:
    request: dict[str, object] = {"Bucket": bucket, "Prefix": key}
    while True:
        page = aws_retried(partial(s3.list_object_versions, **request), clock=clock)
        for version in [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]:
            if version["Key"] == key:  # the prefix also finds longer keys
                yield {"Key": key, "VersionId": version["VersionId"]}
        if not page.get("IsTruncated"):
            return
        request["KeyMarker"] = page["NextKeyMarker"]
        request["VersionIdMarker"] = page["NextVersionIdMarker"]
