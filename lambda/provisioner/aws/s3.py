"""Objects in S3: assets, read and opened safely; versions of keys, put and removed."""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from hyperpod_shared.archives import FILES_LIMIT, ArchiveError, is_plain, refuse_member
from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, code, is_not_found
from hyperpod_shared.content import content_digest, is_content_digest
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import Owner
from provisioner.framework.retry import Clock, aws_retried
from provisioner.framework.turn import Turn

_DELETE_BATCH = 1000  # https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
ZIP_LIMIT_BYTES = 200 * 1024 * 1024
"""Leaves room in Lambda's default /tmp of 512 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket, if it is of the account that it is expected to be of: S3 denies any other."""

    s3: AwsClient
    name: str
    account: str

    @property
    def _place(self) -> dict[str, str]:
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-owner-condition.html
        return {"Bucket": self.name, "ExpectedBucketOwner": self.account}

    def read(self, key: str, *, clock: Clock) -> bytes:
        """Return an asset's content.

        Raises:
            ProvisioningError: There is no such object.
        """
        try:
            return aws_retried(
                lambda: bytes(self.s3.get_object(**self._place, Key=key)["Body"].read()),
                clock=clock,
            )
        except AWS_ERRORS as error:
            if not is_not_found(error):
                raise
            raise ProvisioningError(
                f"The asset s3://{self.name}/{key} does not exist",
                detail=code(error),
                next_step="Deploy again, so that the CDK CLI uploads its assets.",
            ) from error

    def put(
        self, key: str, body: bytes, *, content_type: str, owner: Owner | None, turn: Turn
    ) -> None:
        """Put an object, with the mark of an owner if there is one."""
        # A tag, and no metadata: those of an object encrypted with a key are read without the key.
        mark = {} if owner is None else {"Tagging": urlencode(owner.tags)}
        turn.change(
            lambda: self.s3.put_object(
                **self._place, Key=key, Body=body, ContentType=content_type, **mark
            )
        )

    def foreign(self, keys: Iterable[str], *, owner: Owner, clock: Clock) -> str | None:
        """Return the first key under which there is an object now that is not the owner's."""
        for key in keys:
            for version in self._versions(key, clock):
                if version.get("IsLatest") and not self._is_of(owner, version, clock):
                    return key
        return None

    def remove(self, keys: Iterable[str], *, owner: Owner | None, turn: Turn) -> None:
        """Remove the owner's versions of keys, or without an owner every version and delete marker.

        A bucket that is gone is a success.

        Raises:
            GivenUpError: The request has its turn no more.
            ProvisioningError: S3 kept some of them.
        """
        turn.require()  # what a run of the request before puts later than this would not be listed
        try:
            versions = [
                {"Key": key, "VersionId": version["VersionId"]}
                for key in keys
                for version in self._versions(key, turn.clock, with_markers=owner is None)
                if owner is None or self._is_of(owner, version, turn.clock)
            ]
            for start in range(0, len(versions), _DELETE_BATCH):
                self._delete(versions[start : start + _DELETE_BATCH], turn)
        except AWS_ERRORS as error:
            if code(error) != "NoSuchBucket":
                raise

    def _delete(self, versions: Sequence[Mapping[str, str]], turn: Turn) -> None:
        answer = turn.change(
            lambda: self.s3.delete_objects(
                **self._place, Delete={"Objects": versions, "Quiet": True}
            )
        )
        kept = answer.get("Errors") or []
        if kept:
            raise ProvisioningError(
                f"S3 kept {len(kept)} objects in {self.name}, the first is {kept[0].get('Key')}",
                detail=f"{kept[0].get('Code')}: {kept[0].get('Message')}",
                next_step="Allow the function to delete object versions there, then retry.",
            )

    def _versions(
        self, key: str, clock: Clock, *, with_markers: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        request: dict[str, object] = {**self._place, "Prefix": key}
        while True:
            page = aws_retried(partial(self.s3.list_object_versions, **request), clock=clock)
            markers = page.get("DeleteMarkers", ()) if with_markers else ()
            for version in [*page.get("Versions", ()), *markers]:
                if version["Key"] == key:  # the prefix also finds longer keys
                    yield version
            if not page.get("IsTruncated"):
                return
            request["KeyMarker"] = page["NextKeyMarker"]
            request["VersionIdMarker"] = page["NextVersionIdMarker"]

    def _is_of(self, owner: Owner, version: Mapping[str, Any], clock: Clock) -> bool:
        place = {**self._place, "Key": version["Key"], "VersionId": version["VersionId"]}
        try:
            found = aws_retried(lambda: self.s3.get_object_tagging(**place), clock=clock)
        except AWS_ERRORS as error:
            if not is_not_found(error):
                raise
            return False  # another run has removed it
        return owner.owned_before({tag["Key"]: tag["Value"] for tag in found["TagSet"]})


def require_content(
    paths: Iterable[str], *, read: Callable[[str], bytes], digest: str, origin: str
) -> None:
    """Require that an asset holds what the template was made with.

    A digest that is none is of a former version, which did not say. Messages name the origin.

    Raises:
        ProvisioningError: It holds something else.
    """
    if not is_content_digest(digest):
        return
    found = content_digest(paths, read=read)
    if found != digest:
        raise ProvisioningError(
            f"The asset {origin} has other content than the template expects, and is not used",
            detail=f"the content has the digest {found}, the template names {digest}",
            next_step="Find out who wrote it (CloudTrail, the bucket's policy), delete it with "
            f"`aws s3 rm {origin}`, then deploy again, which uploads it anew.",
        )


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
            next_step="Remove files that are not needed.",
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


def unpack_chart(content: bytes, *, folder: Path, digest: str, origin: str) -> Path:
    """Unpack a zipped chart and return the folder with its Chart.yaml.

    Raises:
        ProvisioningError: The archive is unsafe, holds no chart or another one.
    """
    with open_zip(content, origin=origin) as archive:
        files = [path for path in archive.namelist() if not path.endswith("/")]
        require_content(files, read=archive.read, digest=digest, origin=origin)
        try:
            archive.extractall(folder)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise _no_zip(origin, f"a file and a folder have one name: {error}") from error
    roots = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for root in roots:
        if (root / "Chart.yaml").is_file():
            return root
    raise ProvisioningError(
        f"{origin} has no Chart.yaml at its top level",
        next_step="Zip the folder of the chart itself.",
    )
