"""Histories of lifecycle scripts in a versioned bucket, and what must hold of them.

S3 shows each write at once; it may ask for fewer calls, and an answer may break off.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from random import Random
from typing import Any
from urllib.parse import parse_qsl

from botocore.exceptions import ClientError, ResponseStreamingError

from hyperpod_shared.content import content_digest
from tests.provisioner.histories.cloudformation import Stack
from tests.provisioner.histories.history import Plan, Subject
from tests.provisioner.histories.invariants import NOT_TRUE, NOT_UNDONE, Watch
from tests.provisioner.histories.requests import Operation, Request
from tests.provisioner.histories.world import World

_BUCKET = "sagemaker-b"
_PATHS = ("on_create.sh", "on_create_main.sh", "utils/mount.sh", "observability.py")
_A_PAGE = 2
_ACCOUNT = "111122223333"
_PLACE = {"Bucket": _BUCKET, "ExpectedBucketOwner": _ACCOUNT}
_Version = tuple[str, str, bytes | None]
# What a user deleted before: it can be restored, as long as its versions are there.
_THEIRS: list[_Version] = [("on_create.sh", "theirs", b"#!"), ("on_create.sh", "marker", None)]


@dataclass(frozen=True, kw_only=True)
class ScriptsTemplate:
    """The scripts of a template: their paths, which version of their text, whose the bucket is."""

    paths: tuple[str, ...]
    version: int
    bucket_owner: str

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        return {
            "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
            "SourceBucket": "assets",
            "SourceKey": f"{self.version}.zip",
            "SourceDigest": content_digest(self.paths, read=lambda path: _text(path, self.version)),
            "DestinationBucket": _BUCKET,
            "DestinationOwner": self.bucket_owner,
            "Keys": json.dumps(self.paths),
        }

    @property
    def text(self) -> str:
        return f"version {self.version} of {', '.join(self.paths)}"


@dataclass(kw_only=True)
class ScriptsConduct:
    """How this history's S3 conducts itself.

    Attributes:
        broken_streams: The numbers of the reads, from 0, whose answer breaks off.
        corrupt: Whether a byte of the assets is wrong.
    """

    broken_streams: tuple[int, ...] = ()
    corrupt: bool = False


@dataclass(kw_only=True)
class S3:
    """The destination bucket, and assets by version."""

    world: World
    conduct: ScriptsConduct
    watch: Watch = field(init=False)
    versions: list[_Version] = field(default_factory=list)
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    made: int = 0
    reads: int = 0

    def get_object(self, *, Bucket: str, Key: str, ExpectedBucketOwner: str) -> dict[str, Any]:
        def effect() -> dict[str, Any]:
            assert (Bucket, ExpectedBucketOwner) == ("assets", _ACCOUNT)
            content = bytearray(_asset(Key.removesuffix(".zip")))
            if self.conduct.corrupt and not self.world.calm:
                content[45] ^= 255
            breaks = self.reads in self.conduct.broken_streams
            self.reads += 1
            return {"Body": _Broken() if breaks else io.BytesIO(bytes(content))}

        return self.world.call("s3", "GetObject", effect)

    def get_object_tagging(self, *, VersionId: str, **_place: str) -> dict[str, Any]:
        def effect() -> dict[str, Any]:
            if VersionId not in {version for _, version, _ in self.versions}:
                response: Any = {"Error": {"Code": "NoSuchVersion", "Message": "gone"}}
                raise ClientError(response, "GetObjectTagging")
            tags = self.tags.get(VersionId, {})
            return {"TagSet": [{"Key": key, "Value": value} for key, value in tags.items()]}

        return self.world.call("s3", "GetObjectTagging", effect)

    def put_object(
        self, *, Key: str, Body: bytes, ContentType: str, Tagging: str = "", **place: str
    ) -> dict[str, Any]:
        assert (place, bool(ContentType)) == (_PLACE, True)
        return self.world.call("s3", "PutObject", lambda: self._put(Key, Body, Tagging))

    def list_object_versions(self, **request: Any) -> dict[str, Any]:
        def effect() -> dict[str, Any]:
            found = [one for one in self.versions if one[0].startswith(request["Prefix"])]
            start = int(request.get("VersionIdMarker", 0))
            page = found[start : start + _A_PAGE]
            latest = {key: version for key, version, _ in self.versions}
            return {
                "Versions": [_listed(one, latest) for one in page if one[2] is not None],
                "DeleteMarkers": [_listed(one, latest) for one in page if one[2] is None],
                "IsTruncated": start + _A_PAGE < len(found),
                "NextKeyMarker": request["Prefix"],
                "NextVersionIdMarker": str(start + _A_PAGE),
            }

        return self.world.call("s3", "ListObjectVersions", effect)

    def delete_objects(self, *, Delete: Mapping[str, Any], **place: str) -> dict[str, Any]:
        assert place == _PLACE
        return self.world.call("s3", "DeleteObjects", lambda: self._delete(Delete["Objects"]))

    def newest(self) -> dict[str, bytes]:
        texts: dict[str, bytes] = {}
        for key, _, body in self.versions:
            texts.pop(key, None)
            if body is not None:
                texts[key] = body
        return texts

    def _put(self, key: str, body: bytes, tagging: str) -> dict[str, Any]:
        self._tell("PutObject", key)
        self.made += 1
        self.versions.append((key, f"v{self.made}", body))
        self.tags[f"v{self.made}"] = dict(parse_qsl(tagging))
        return {}

    def _delete(self, objects: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        gone = {(one["Key"], one["VersionId"]) for one in objects}
        self._tell("DeleteObjects", ", ".join(sorted({key for key, _ in gone})))
        self.versions = [one for one in self.versions if (one[0], one[1]) not in gone]
        return {}

    def _tell(self, operation: str, keys: str) -> None:
        invocation = self.world.invocation
        self.world.note(invocation.who, "%s %s", operation, keys)
        self.watch.is_over(invocation.request, invocation.begun_at, what=operation)


class _Broken:
    def read(self) -> bytes:
        raise ResponseStreamingError(error="IncompleteRead")


@dataclass(kw_only=True)
class ScriptsWatch(Watch):
    s3: S3

    def deleted(self, request: Request) -> None:
        """Look whether the scripts are gone, with all versions."""
        template: ScriptsTemplate = request.wanted
        theirs = _THEIRS if template.bucket_owner == "user" else []
        if [one for one in self.s3.versions if one[0] in template.paths] != theirs:
            self.violated(NOT_TRUE, "a deletion is a success, and scripts are there")

    def healed(self, stack: Stack, template: ScriptsTemplate) -> None:
        """Compare the bucket with the template, by which nothing else may be there."""
        assert stack.template is template
        if set(self.s3.newest()) != set(template.paths):
            self.violated(NOT_UNDONE, "repaired: other scripts are there")

    def compare(self, invariant: int, request: Request, kind: str) -> None:
        template: ScriptsTemplate = request.wanted
        newest = self.s3.newest()
        for path in template.paths:
            if newest.get(path) != _text(path, template.version):
                self.violated(invariant, f"{kind}: another text", path)
        for path in request.former.paths if request.former else ():
            if path not in template.paths and path in newest:
                self.violated(invariant, f"{kind}: a removed script is there", path)


class ScriptsSubject(Subject):
    """The scripts of a bucket."""

    resource_type = "Custom::LifecycleScripts"

    def __init__(self, plan: Plan, world: World) -> None:
        self._s3 = s3 = S3(world=world, conduct=replace(plan.conduct))
        if plan.operations[0].template.bucket_owner == "user":
            s3.versions += _THEIRS
        self.watch = s3.watch = ScriptsWatch(world=world, s3=s3)
        self.services: Mapping[str, Any] = {"s3": s3}

    def calm_down(self) -> float:
        self._s3.conduct.broken_streams = ()
        return 1000.0

    def next_template(self, template: ScriptsTemplate) -> ScriptsTemplate:
        return replace(template, version=template.version + 1)


@lru_cache(maxsize=64)
def _asset(version: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in _PATHS:
            archive.writestr(zipfile.ZipInfo(path), _text(path, int(version)))
    return buffer.getvalue()


def _text(path: str, version: int) -> bytes:
    return f"# {path} {version}".encode()


def _listed(version: _Version, latest: Mapping[str, str]) -> dict[str, Any]:
    key, identifier, _ = version
    return {"Key": key, "VersionId": identifier, "IsLatest": latest[key] == identifier}


def operations(random: Random, accidents: Iterator[dict[str, Any]]) -> tuple[Operation, ...]:
    drawn = []
    bucket_owner = random.choice(("deployment", "user"))
    for version in range(1, random.choice((2, 3, 3, 4)) + 1):
        paths = tuple(path for path in _PATHS if path == _PATHS[0] or random.random() < 0.7)
        drawn.append(
            Operation(
                kind="deploy",
                template=ScriptsTemplate(paths=paths, version=version, bucket_owner=bucket_owner),
                pause=random.choice((1.0, 30.0)),
                **next(accidents),
            )
        )
    return tuple(drawn)


def conduct(random: Random) -> ScriptsConduct:
    return ScriptsConduct(
        broken_streams=tuple(number for number in range(6) if random.random() < 0.05),
        corrupt=random.random() < 0.03,
    )
