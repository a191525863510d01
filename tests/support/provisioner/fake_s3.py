"""A versioned S3, in memory."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

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
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass
class FakeS3:
    """Buckets of versions, oldest first, all of one account; lists come in pages of two."""

    account: str = "111122223333"
    buckets: dict[str, list[Version]] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    added: int = 0
    put_error: ClientError | None = None
    kept: Sequence[Mapping[str, str]] = ()

    def keys(self, bucket: str) -> list[str]:
        return sorted({version.key for version in self.buckets[bucket]})

    def bodies(self, bucket: str, key: str) -> list[bytes | None]:
        return [version.body for version in self.buckets[bucket] if version.key == key]

    def add(
        self,
        bucket: str,
        key: str,
        body: bytes | None,
        content_type: str = "",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        versions = self.buckets.setdefault(bucket, [])
        self.added += 1
        versions.append(Version(key, f"v{self.added}-{key}", body, content_type, tags or {}))

    def get_object(self, **request: Any) -> dict[str, Any]:
        for version in reversed(self._bucket(request, "GetObject")):
            if version.key == request["Key"] and version.body is not None:
                return {"Body": io.BytesIO(version.body)}
        raise client_error("NoSuchKey", "GetObject")

    def get_object_tagging(self, **request: Any) -> dict[str, Any]:
        wanted = (request["Key"], request["VersionId"])
        for version in self._bucket(request, "GetObjectTagging"):
            if (version.key, version.version_id) == wanted:
                return {
                    "TagSet": [{"Key": key, "Value": text} for key, text in version.tags.items()]
                }
        raise client_error("NoSuchVersion", "GetObjectTagging")

    def put_object(self, **request: Any) -> dict[str, Any]:
        if self.put_error:
            raise self.put_error
        self._bucket(request, "PutObject")
        self.puts.append(request["Key"])
        tags = dict(parse_qsl(request.get("Tagging", "")))
        bucket, key, body = request["Bucket"], request["Key"], request["Body"]
        self.add(bucket, key, body, request["ContentType"], tags)
        return {}

    def list_object_versions(self, **request: Any) -> dict[str, Any]:
        bucket = self._bucket(request, "ListObjectVersions")
        latest = {version.key: version.version_id for version in bucket}
        found = [version for version in bucket if version.key.startswith(request["Prefix"])]
        start = int(request.get("VersionIdMarker", 0))
        page = found[start : start + 2]
        return {
            "Versions": [_listed(each, latest) for each in page if each.body is not None],
            "DeleteMarkers": [_listed(each, latest) for each in page if each.body is None],
            "IsTruncated": start + 2 < len(found),
            "NextKeyMarker": request["Prefix"],
            "NextVersionIdMarker": str(start + 2),
        }

    def delete_objects(self, **request: Any) -> dict[str, Any]:
        gone = {(entry["Key"], entry["VersionId"]) for entry in request["Delete"]["Objects"]}
        self.buckets[request["Bucket"]] = [
            version
            for version in self._bucket(request, "DeleteObjects")
            if (version.key, version.version_id) not in gone
        ]
        return {"Errors": list(self.kept)}

    def _bucket(self, request: Mapping[str, Any], operation: str) -> list[Version]:
        if request["Bucket"] not in self.buckets:
            raise client_error("NoSuchBucket", operation)
        if request["ExpectedBucketOwner"] != self.account:
            raise client_error("AccessDenied", operation, "Access Denied", status=403)
        return self.buckets[request["Bucket"]]


def _listed(version: Version, latest: Mapping[str, str]) -> dict[str, Any]:
    is_latest = latest[version.key] == version.version_id
    return {"Key": version.key, "VersionId": version.version_id, "IsLatest": is_latest}
