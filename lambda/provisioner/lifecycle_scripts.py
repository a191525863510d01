"""`Custom::LifecycleScripts`: lifecycle scripts in a bucket, for HyperPod to run on each node.

| request | on_event                                                         | is_complete      |
|---------|------------------------------------------------------------------|------------------|
| Create  | put every file of the zip, and those whose text the request has  | at once          |
| Update  | put every file, remove keys no longer listed (elsewhere: Create) | at once          |
| Delete  | remove the listed keys with all their versions                   | at once          |

In a bucket of the user's, each version that is put carries the mark of its owner, and no other one
is removed; a key under which there is something else is refused. ADR 73 says why.

In a rollback it is done again half a minute later: until then, a run of the request that is taken
back may not see that it is given up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, is_transient
from hyperpod_shared.errors import CarriedFailure, ProvisioningError
from provisioner.aws.s3 import Bucket, open_zip, require_content
from provisioner.framework import log
from provisioner.framework.properties import (
    Properties,
    json_object,
    json_texts,
    one_of,
    parsed,
    text,
)
from provisioner.framework.resource import DONE, NOT_YET, Accepted, Progress
from provisioner.framework.turn import Turn

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
_DEPLOYMENT, _USER = "deployment", "user"


def _files(name: str, value: object) -> dict[str, str]:
    found = json_object(name, value)
    if not all(isinstance(content, str) for content in found.values()):
        raise ProvisioningError(
            f"The property {name} must be a JSON object of strings",
            next_step="Pass the text of each file that is not in the zip, by its path.",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScriptsProperties(Properties):
    """The properties that the CDK app sets.

    Attributes:
        source_digest: Digest of those of them that are put.
        destination_owner: Whose the bucket is, the deployment's or the user's. Default: not known,
            in templates of former versions.
        paths: The files' relative paths in the zip.
        prefix: What their keys begin with, before a slash. Default: nothing, the key is the path.
        files: Text of each file that is not in the zip, by its path. Default: none.
    """

    source_bucket: str = parsed(text)
    source_key: str = parsed(text)
    source_digest: str = parsed(text, default="")
    destination_bucket: str = parsed(text)
    destination_owner: str = parsed(one_of(_DEPLOYMENT, _USER), default="")
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


@dataclass(frozen=True, kw_only=True)
class LifecycleScripts:
    """Handles `Custom::LifecycleScripts`."""

    properties_type = LifecycleScriptsProperties
    s3: AwsClient

    def on_event(self, properties: LifecycleScriptsProperties, turn: Turn) -> Accepted:
        """Put or remove the scripts."""
        run = _Run(s3=self.s3, properties=properties, turn=turn)
        if turn.request.type == "Delete":
            run.remove(properties, properties.keys)
            return Accepted()
        return run.put()

    def is_complete(self, properties: LifecycleScriptsProperties, turn: Turn) -> Progress:
        """Report success: do again what a former request may have undone, or could not begin."""
        if turn.may_overlap:
            return NOT_YET
        if turn.request.deferred or turn.takes_back:
            accepted = self.on_event(properties, turn)
            if accepted.failure:
                raise CarriedFailure(accepted.failure)
        if turn.request.type == "Delete":
            return DONE
        bucket = properties.destination_bucket
        return Progress(complete=True, data={"S3Uri": f"s3://{bucket}"})


@dataclass(frozen=True, kw_only=True)
class _Run:
    """What one run does for a request."""

    s3: AwsClient
    properties: LifecycleScriptsProperties
    turn: Turn

    def put(self) -> Accepted:
        """Put the scripts, and remove those that are not listed any more."""
        properties, scripts, former = self.properties, self._scripts(), self._former()
        name = properties.destination_bucket
        mark = self.turn.request.owner if properties.destination_owner == _USER else None
        try:
            self._refuse_foreign(former)
            for path, key in zip(properties.paths, properties.keys, strict=True):
                content_type = _CONTENT_TYPES.get(PurePosixPath(key).suffix, _OTHER_CONTENT_TYPE)
                self._bucket(name).put(
                    key, scripts[path], content_type=content_type, owner=mark, turn=self.turn
                )
            if former is not None:
                self.remove(former, tuple(key for key in former.keys if key not in properties.keys))
        except AWS_ERRORS as error:
            if is_transient(error):
                raise
            failure = ProvisioningError(
                f"The lifecycle scripts could not be put into the bucket {name}",
                detail=str(error),
                next_step="Check the bucket and the function's role, then deploy again.",
            )
            return Accepted(failure=str(failure))
        log.info("scripts put", bucket=name, keys=properties.keys)
        return Accepted()

    def remove(self, properties: LifecycleScriptsProperties, keys: tuple[str, ...]) -> None:
        """Remove what is known to be the deployment's own."""
        name = properties.destination_bucket
        if not properties.destination_owner:
            log.warning("scripts stay, whose the bucket is was not said", bucket=name, keys=keys)
        elif keys:
            owner = None if properties.destination_owner == _DEPLOYMENT else self.turn.request.owner
            self._bucket(name).remove(keys, owner=owner, turn=self.turn)
            log.info("scripts removed", bucket=name, keys=keys)

    def _bucket(self, name: str) -> Bucket:
        return Bucket(s3=self.s3, name=name, account=self.turn.request.owner.account)

    def _former(self) -> LifecycleScriptsProperties | None:
        """Return what the request updates; None if it puts the scripts elsewhere.

        A former version did not say whose the bucket is, and says so to no deletion of its own:
        what it put into the deployment's bucket goes when the scripts move within it.
        """
        if not self.turn.request.old_properties:
            return None
        old = LifecycleScriptsProperties.parse(self.turn.request.old_properties)
        owner = old.destination_owner or self.properties.destination_owner
        moves = self.turn.request.physical_id != self.properties.physical_id
        is_left = (
            old.destination_bucket == self.properties.destination_bucket
            and not old.destination_owner
            and owner == _DEPLOYMENT
        )
        return None if moves and not is_left else replace(old, destination_owner=owner)

    def _refuse_foreign(self, former: LifecycleScriptsProperties | None) -> None:
        """Refuse keys of others; not in a rollback, whose keys were the deployment's before."""
        if self.properties.destination_owner != _USER or self.turn.rolls_back:
            return
        name = self.properties.destination_bucket
        known = former.keys if former is not None else ()
        new = (key for key in self.properties.keys if key not in known)
        key = self._bucket(name).foreign(new, owner=self.turn.request.owner, clock=self.turn.clock)
        if key is not None:
            raise ProvisioningError(
                f"The bucket {name} has an object {key} that is not of this deployment",
                detail="it stays as it is",
                next_step="Set lifecycle_scripts.prefix to one that holds nothing, or move the "
                f"object away (`aws s3 mv s3://{name}/{key} ...`), then deploy again.",
            )

    def _scripts(self) -> dict[str, bytes]:
        properties = self.properties
        origin = f"s3://{properties.source_bucket}/{properties.source_key}"
        source = self._bucket(properties.source_bucket)
        content = source.read(properties.source_key, clock=self.turn.clock)
        with open_zip(content, origin=origin) as archive:
            zipped = [path for path in properties.paths if path not in properties.files]
            missing = sorted(set(zipped) - set(archive.namelist()))
            if missing:
                raise ProvisioningError(
                    f"The lifecycle script {missing[0]} is not in {origin}",
                    next_step="List only files of the folder that is zipped.",
                )
            digest = properties.source_digest
            require_content(zipped, read=archive.read, digest=digest, origin=origin)
            made = {path: text.encode() for path, text in properties.files.items()}
            return made | {path: archive.read(path) for path in zipped}
