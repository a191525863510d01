"""Objects in S3: reading an asset and opening it safely, removing a key with all its versions."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from hyperpod_shared.archives import FILES_LIMIT, ArchiveError, is_plain, refuse_member
from hyperpod_shared.aws_errors import AWS_ERRORS, code, is_not_found
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.api import S3Api
from provisioner.framework.operation import Turn
from provisioner.framework.retry import Clock, aws_retried

_DELETE_BATCH = 1000  # https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
ZIP_LIMIT_BYTES = 200 * 1024 * 1024
"""Leaves room in Lambda's default /tmp of 512 MB."""


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


def remove_keys(s3: S3Api, *, bucket: str, keys: Sequence[str], turn: Turn) -> None:
    """Remove every version and delete marker of the keys; a bucket that is gone is a success.

    Raises:
        GivenUpError: The request has its turn no more.
        ProvisioningError: S3 kept some of them.
    """
    try:
        versions = [version for key in keys for version in _versions(s3, bucket, key, turn.clock)]
        for start in range(0, len(versions), _DELETE_BATCH):
            _delete(s3, bucket, versions[start : start + _DELETE_BATCH], turn)
    except AWS_ERRORS as error:
        if code(error) != "NoSuchBucket":
            raise


def _delete(s3: S3Api, bucket: str, versions: Sequence[Mapping[str, str]], turn: Turn) -> None:
    answer = turn.change(
        lambda: s3.delete_objects(Bucket=bucket, Delete={"Objects": versions, "Quiet": True})
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


def open_zip(content: bytes, *, origin: str) -> zipfile.ZipFile:
    """Open a zip held in memory.

    Raises:
        ProvisioningError: It is not a zip, too big, or holds what is not a file in it.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile as error:
        raise _no_zip(origin, str(error)) from error
    members = archive.infolist()
    try:
        for member in members:
            refuse_member(member.filename, is_plain=is_plain(member))
    except ArchiveError as error:
        raise ProvisioningError(
            f"{origin} {error}",
            next_step="Make the archive from one folder with relative paths.",
        ) from None
    size = sum(member.file_size for member in members)
    if size > ZIP_LIMIT_BYTES or len(members) > FILES_LIMIT:
        raise ProvisioningError(
            f"{origin} unpacks to {size} bytes in {len(members)} files, at most {ZIP_LIMIT_BYTES} "
            f"in {FILES_LIMIT} are allowed",
            next_step="Leave out what is not needed.",
        )
    try:
        damaged = archive.testzip()
    # zipfile raises RuntimeError for a password, and for a compression that it does not know.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise _no_zip(origin, str(error)) from error
    if damaged is not None:
        raise _no_zip(origin, f"{damaged} is damaged")
    return archive


def _no_zip(origin: str, cause: str) -> ProvisioningError:
    return ProvisioningError(
        f"{origin} is not a zip archive",
        detail=cause,
        next_step="Deploy again, so that the CDK CLI uploads its assets.",
    )


def unpack_chart(content: bytes, *, folder: Path, origin: str) -> Path:
    """Unpack a zipped chart and return the folder with its Chart.yaml.

    Raises:
        ProvisioningError: The archive is unsafe or holds no chart.
    """
    with open_zip(content, origin=origin) as archive:
        try:
            archive.extractall(folder)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise _no_zip(origin, f"a file and a folder have one name: {error}") from error
    roots = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for root in roots:
        if (root / "Chart.yaml").is_file():
            return root
    raise ProvisioningError(
        f"{origin} holds no Chart.yaml at its top",
        next_step="Zip the chart's own folder.",
    )
