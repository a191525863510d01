"""`Custom::LifecycleScripts`: lifecycle scripts in a bucket, for HyperPod to run on each node.

| request | on_event                                                         | is_complete      |
|---------|------------------------------------------------------------------|------------------|
| Create  | put every file of the zip, and those whose text the request has  | at once          |
| Update  | put every file, remove keys no longer listed (elsewhere: Create) | at once          |
| Delete  | remove the listed keys with all their versions                   | at once          |

In a rollback it is done again half a minute later: until then, a run of the request that is taken
back may not see that it is given up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from hyperpod_shared.aws_errors import AWS_ERRORS, is_transient
from hyperpod_shared.errors import CarriedFailure, ProvisioningError
from provisioner.aws.api import S3Api
from provisioner.aws.s3 import open_zip, read_object, remove_keys
from provisioner.framework import log
from provisioner.framework.operation import Turn
from provisioner.framework.properties import Properties, json_object, json_texts, parsed, text
from provisioner.framework.request import Request
from provisioner.framework.resource import DONE, NOT_YET, Accepted, Progress
from provisioner.framework.retry import Clock

_CONTENT_TYPES = {
    ".sh": "text/x-shellscript",
    ".py": "text/x-python",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".toml": "application/toml",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".conf": "text/plain",
    ".env": "text/plain",
    ".service": "text/plain",
}
_OTHER_CONTENT_TYPE = "application/octet-stream"


def _files(name: str, value: object) -> dict[str, str]:
    found = json_object(name, value)
    if not all(isinstance(content, str) for content in found.values()):
        raise ProvisioningError(
            f"The property {name} must be a JSON object of texts",
            next_step="Pass the text of each file that is not in the zip, by its path.",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScriptsProperties(Properties):
    """The properties that the CDK app sets.

    Attributes:
        source_bucket: Bucket of the zipped scripts.
        source_key: Key of the zipped scripts.
        destination_bucket: Bucket that nodes read them from.
        paths: The files' relative paths in the zip.
        prefix: What their keys begin with, before a slash. Default: nothing, the key is the path.
        files: Text of each file that is not in the zip, by its path. Default: none.
    """

    source_bucket: str = parsed(text)
    source_key: str = parsed(text)
    destination_bucket: str = parsed(text)
    paths: tuple[str, ...] = parsed(json_texts, name="Keys")
    prefix: str = parsed(text, default="")
    files: Mapping[str, str] = parsed(_files, default_factory=dict)

    @property
    def physical_id(self) -> str:
        """The resource's id: each prefix of a bucket has one set of scripts."""
        return "/".join(filter(None, (self.destination_bucket, "lifecycle-scripts", self.prefix)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the files in the bucket."""
        return tuple(self._key(path) for path in self.paths)

    def _key(self, path: str) -> str:
        return f"{self.prefix}/{path}" if self.prefix else path


class LifecycleScripts:
    """Handles `Custom::LifecycleScripts`.

    Args:
        s3: Reads the asset; writes and removes the scripts.
    """

    properties_type = LifecycleScriptsProperties

    def __init__(self, *, s3: S3Api) -> None:
        self._s3 = s3

    def on_event(
        self, request: Request, properties: LifecycleScriptsProperties, turn: Turn
    ) -> Accepted:
        """Put or remove the scripts."""
        if request.type == "Delete":
            self._remove(properties.destination_bucket, properties.keys, turn)
            return Accepted()
        scripts = self._scripts(properties, turn.clock)
        try:
            for path, key in zip(properties.paths, properties.keys, strict=True):
                self._put(properties.destination_bucket, key, scripts[path], turn)
            if request.old_properties and request.physical_id == properties.physical_id:
                old = LifecycleScriptsProperties.parse(request.old_properties)
                gone = tuple(key for key in old.keys if key not in properties.keys)
                self._remove(properties.destination_bucket, gone, turn)
        except AWS_ERRORS as error:
            if is_transient(error):
                raise
            failure = ProvisioningError(
                f"The lifecycle scripts could not be put into the bucket "
                f"{properties.destination_bucket}",
                detail=str(error),
                next_step="Check the bucket and the function's role, then deploy again.",
            )
            return Accepted(failure=str(failure))
        log.info("scripts put", bucket=properties.destination_bucket, keys=properties.keys)
        return Accepted()

    def is_complete(
        self, request: Request, properties: LifecycleScriptsProperties, turn: Turn
    ) -> Progress:
        """Report success: do again what a former request may have undone, or could not begin."""
        if turn.may_overlap:
            return NOT_YET
        if request.deferred or turn.takes_back:
            accepted = self.on_event(request, properties, turn)
            if accepted.failure:
                raise CarriedFailure(accepted.failure)
        if request.type == "Delete":
            return DONE
        bucket = properties.destination_bucket
        return Progress(complete=True, data={"S3Uri": f"s3://{bucket}"})

    def _scripts(self, properties: LifecycleScriptsProperties, clock: Clock) -> dict[str, bytes]:
        origin = f"s3://{properties.source_bucket}/{properties.source_key}"
        content = read_object(
            self._s3, bucket=properties.source_bucket, key=properties.source_key, clock=clock
        )
        with open_zip(content, origin=origin) as archive:
            zipped = [path for path in properties.paths if path not in properties.files]
            missing = sorted(set(zipped) - set(archive.namelist()))
            if missing:
                raise ProvisioningError(
                    f"The lifecycle script {missing[0]} is not in {origin}",
                    next_step="List only files of the folder that is zipped.",
                )
            made = {path: text.encode() for path, text in properties.files.items()}
            return made | {path: archive.read(path) for path in zipped}

    def _put(self, bucket: str, key: str, body: bytes, turn: Turn) -> None:
        content_type = _CONTENT_TYPES.get(PurePosixPath(key).suffix, _OTHER_CONTENT_TYPE)
        turn.change(
            lambda: self._s3.put_object(Bucket=bucket, Key=key, Body=body, ContentType=content_type)
        )

    def _remove(self, bucket: str, keys: tuple[str, ...], turn: Turn) -> None:
        if keys:
            remove_keys(self._s3, bucket=bucket, keys=keys, turn=turn)
            log.info("scripts removed", bucket=bucket, keys=keys)
