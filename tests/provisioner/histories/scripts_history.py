"""Histories of lifecycle scripts in a versioned bucket, and what must hold of them.

S3 shows each write at once; it may ask for fewer calls, and an answer may break off.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any

from botocore.exceptions import ResponseStreamingError

from hyperpod_shared.content import content_digest
from tests.provisioner.histories.invariants import Rule, Subject
from tests.provisioner.histories.plan import Plan, Request, Template
from tests.provisioner.histories.world import World, called
from tests.support.provisioner.fake_s3 import FakeS3, Version

_BUCKET = "sagemaker-b"
_PATHS = ("on_create.sh", "on_create_main.sh", "utils/mount.sh", "observability.py")
# What a user deleted before: it can be restored, as long as its versions are there.
_THEIRS = [Version("on_create.sh", "theirs", b"#!"), Version("on_create.sh", "marker", None)]


@dataclass(frozen=True, kw_only=True)
class ScriptsTemplate(Template):
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
class S3(FakeS3):
    """The destination bucket, and assets by version."""

    world: World
    conduct: ScriptsConduct
    is_over: Callable[..., bool]
    reads: int = 0

    @called("s3")
    def get_object(self, *, Bucket: str, Key: str, ExpectedBucketOwner: str) -> dict[str, Any]:
        assert (Bucket, ExpectedBucketOwner) == ("assets", self.account)
        content = bytearray(_asset(Key.removesuffix(".zip")))
        if self.conduct.corrupt and not self.world.calm:
            content[45] ^= 255
        breaks = self.reads in self.conduct.broken_streams
        self.reads += 1
        return {"Body": _Broken() if breaks else io.BytesIO(bytes(content))}

    @called("s3")
    def get_object_tagging(self, **request: Any) -> dict[str, Any]:
        return super().get_object_tagging(**request)

    @called("s3")
    def put_object(self, **request: Any) -> dict[str, Any]:
        self._tell("PutObject", request["Key"])
        return super().put_object(**request)

    @called("s3")
    def list_object_versions(self, **request: Any) -> dict[str, Any]:
        return super().list_object_versions(**request)

    @called("s3")
    def delete_objects(self, *, Delete: Mapping[str, Any], **place: str) -> dict[str, Any]:
        self._tell("DeleteObjects", ", ".join(sorted({one["Key"] for one in Delete["Objects"]})))
        return super().delete_objects(Delete=Delete, **place)

    @property
    def versions(self) -> list[Version]:
        return self.buckets[_BUCKET]

    def newest(self) -> dict[str, bytes]:
        bodies = {one.key: one.body for one in self.versions}
        return {key: body for key, body in bodies.items() if body is not None}

    def _tell(self, operation: str, keys: str) -> None:
        invocation = self.world.invocation
        self.world.note(invocation.who, "%s %s", operation, keys)
        self.is_over(invocation.request, invocation.begun_at, what=operation)


class _Broken:
    def read(self) -> bytes:
        raise ResponseStreamingError(error="IncompleteRead")


class ScriptsSubject(Subject):
    """The scripts of a bucket."""

    resource_type = "Custom::LifecycleScripts"
    pauses = (1.0, 30.0)

    def __init__(self, plan: Plan, world: World) -> None:
        super().__init__(plan, world)
        self.s3 = S3(world=world, conduct=self.conduct, is_over=self.is_over)
        is_theirs = plan.operations[0].template.bucket_owner == "user"
        self.s3.buckets[_BUCKET] = [*_THEIRS] if is_theirs else []
        self.services = {"s3": self.s3}

    @staticmethod
    def templates(random: Random) -> Iterator[ScriptsTemplate]:
        bucket_owner = random.choice(("deployment", "user"))
        for version in range(1, random.choice((2, 3, 3, 4)) + 1):
            paths = tuple(path for path in _PATHS if path == _PATHS[0] or random.random() < 0.7)
            yield ScriptsTemplate(paths=paths, version=version, bucket_owner=bucket_owner)

    @staticmethod
    def drawn_conduct(random: Random) -> ScriptsConduct:
        return ScriptsConduct(
            broken_streams=tuple(number for number in range(6) if random.random() < 0.05),
            corrupt=random.random() < 0.03,
        )

    def calm_down(self) -> float:
        self.conduct.broken_streams = ()
        return 1000.0

    def deleted(self, request: Request) -> None:
        """Look whether the scripts are gone, with all versions."""
        template: ScriptsTemplate = request.wanted
        theirs = _THEIRS if template.bucket_owner == "user" else []
        if [one for one in self.s3.versions if one.key in template.paths] != theirs:
            self.violated(Rule.NOT_TRUE, "a deletion is a success, and scripts are there")

    def healed(self, request: Request) -> None:
        """Compare the bucket with the template, by which nothing else may be there."""
        if set(self.s3.newest()) != set(request.wanted.paths):
            self.violated(Rule.NOT_UNDONE, "repaired: other scripts are there")

    def compare(self, invariant: Rule, request: Request, kind: str) -> None:
        template: ScriptsTemplate = request.wanted
        newest = self.s3.newest()
        for path in template.paths:
            if newest.get(path) != _text(path, template.version):
                self.violated(invariant, f"{kind}: another text", path)
        for path in request.former.paths if request.former else ():
            if path not in template.paths and path in newest:
                self.violated(invariant, f"{kind}: a removed script is there", path)


@lru_cache(maxsize=64)
def _asset(version: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in _PATHS:
            archive.writestr(zipfile.ZipInfo(path), _text(path, int(version)))
    return buffer.getvalue()


def _text(path: str, version: int) -> bytes:
    return f"# {path} {version}".encode()
