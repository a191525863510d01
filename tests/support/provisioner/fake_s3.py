"""A versioned S3, in memory."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of the files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def client_error(
    code: str, operation: str, message: str = "no", *, status: int = 400
) -> ClientError:
    """Return an error as botocore raises it."""
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, operation)


@dataclass(frozen=True)
class Version:
    """One version of a key; a delete marker has no body."""

    key: str
    version_id: str
    body: bytes | None
    content_type: str = ""


@dataclass
class FakeS3:
    """Buckets of versions, oldest first; lists come in pages of two."""

    buckets: dict[str, list[Version]] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    put_error: ClientError | None = None
    kept: Sequence[Mapping[str, str]] = ()

    def keys(self, bucket: str) -> list[str]:
        return sorted({version.key for version in self.buckets[bucket]})

    def add(self, bucket: str, key: str, body: bytes | None, content_type: str = "") -> None:
        versions = self.buckets.setdefault(bucket, [])
        versions.append(Version(key, f"v{len(versions)}-{key}", body, content_type))

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:
        for version in reversed(self._bucket(Bucket, "GetObject")):
            if version.key == Key and version.body is not None:
                return {"Body": io.BytesIO(version.body)}
        raise client_error("NoSuchKey", "GetObject")

    def put_object(
        self,
        *,
        Bucket: str,
        Key: str,
        Body: bytes,
        ContentType: str,
    ) -> dict[str, Any]:
        if self.put_error:
            raise self.put_error
        self._bucket(Bucket, "PutObject")
        self.puts.append(Key)
        self.add(Bucket, Key, Body, ContentType)
        return {}

    def list_object_versions(self, **request: Any) -> dict[str, Any]:
        found = [
            version
            for version in self._bucket(request["Bucket"], "ListObjectVersions")
            if version.key.startswith(request["Prefix"])
        ]
        start = int(request.get("VersionIdMarker", 0))
        page = found[start : start + 2]
        return {
            "Versions": [_listed(version) for version in page if version.body is not None],
            "DeleteMarkers": [_listed(version) for version in page if version.body is None],
            "IsTruncated": start + 2 < len(found),
            "NextKeyMarker": request["Prefix"],
            "NextVersionIdMarker": str(start + 2),
        }

    def delete_objects(self, *, Bucket: str, Delete: Mapping[str, Any]) -> dict[str, Any]:
        gone = {(entry["Key"], entry["VersionId"]) for entry in Delete["Objects"]}
        self.buckets[Bucket] = [
            version
            for version in self._bucket(Bucket, "DeleteObjects")
            if (version.key, version.version_id) not in gone
        ]
        return {"Errors": list(self.kept)}

    def _bucket(self, name: str, operation: str) -> list[Version]:
        if name not in self.buckets:
            raise client_error("NoSuchBucket", operation)
        return self.buckets[name]


def _listed(version: Version) -> dict[str, str]:
    return {"Key": version.key, "VersionId": version.version_id}
