"""The archive of a deployment: what it holds, and the file that it is written to.

The file is a ZIP with `manifest.json`, `deployment.json`, each stack's template and the small files
that its custom resources take from S3. The manifest has the digest of each.
"""

import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError, model_validator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.given_file import given_bytes
from hyperpod_cdk.schema.named_resources import Kind, named_resources
from hyperpod_cli.inspect.archive.deployment import (
    ArchivedDeployment,
    Manifest,
    Model,
    StackName,
    Template,
    first_line,
)
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.archives import ArchiveError as MemberError
from hyperpod_shared.archives import Room, is_plain, refuse_member

FORMAT = 1
"""Of the files; another number is for another reader."""
_MANIFEST, _DEPLOYMENT = "manifest.json", "deployment.json"
_TEMPLATES, _ASSETS = "templates/", "assets/"
_ENCRYPTED = 0x1
_WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_OF_OWNER = 0o600
# Of every file in the archive, so that two of the same deployment are the same.
_TIME = (1980, 1, 1, 0, 0, 0)
# What a configuration names of its own account, whatever it shares with others.
_OF_OWN_ACCOUNT: Sequence[Kind] = ("training plan", "EKS cluster", "role")
_AGAIN = "write it again with `hyperpod-cdk archive`"


class ArchiveError(OpsError):
    """An archive cannot be used; one line that says why."""


class Archive(Model):
    """An archive, with each template by its stack's name, and each asset by its name in S3."""

    manifest: Manifest
    deployment: ArchivedDeployment
    templates: Mapping[StackName, Template]
    assets: Mapping[str, bytes] = {}

    @model_validator(mode="after")
    def _templates_are_of_stacks(self) -> Self:
        stacks = {stack.name for stack in self.deployment.stacks}
        if not stacks:
            raise ValueError("stacks: there are none")
        if odd := sorted(stacks ^ self.templates.keys()):
            raise ValueError(f"{odd[0]}: has no template, or no stack")
        return self

    def write(self, path: Path) -> str:
        """Write the file, for its owner alone; return its digest."""
        files = {
            _DEPLOYMENT: _text(self.deployment.model_dump(mode="json")),
            **{f"{_TEMPLATES}{name}.json": _text(body) for name, body in self.templates.items()},
            **{f"{_ASSETS}{name}": content for name, content in self.assets.items()},
        }
        digests = {name: _sha(content) for name, content in sorted(files.items())}
        whole = _whole(digests)
        manifest = self.manifest.model_copy(update={"files": digests, "digest": whole})
        files = {_MANIFEST: _text(manifest.model_dump(mode="json")), **files}
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", compression=zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                info = zipfile.ZipInfo(name, date_time=_TIME)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
        try:
            with os.fdopen(os.open(path, _WRITTEN, _OF_OWNER), "wb") as file:
                # One that was there may have been open to others.
                if path.is_file():
                    os.fchmod(file.fileno(), _OF_OWNER)
                file.write(content.getvalue())
        except OSError as error:
            raise ArchiveError(f"{path}: cannot be written ({error.strerror})") from None
        return whole


def written(archive: Archive, *, path: Path) -> Iterator[str]:
    """Write an archive; yield what it has, and what it lacks."""
    digest = archive.write(path)
    manifest, deployment = archive.manifest, archive.deployment
    yield (
        f"{path}: {manifest.deployment} in {manifest.account}/{manifest.region}: "
        f"{len(deployment.stacks)} stacks, {len(deployment.nodes)} nodes; digest {digest[:12]}"
    )
    for place in deployment.hidden:
        yield f"  left out, because it looks like a secret: {place}"
    for what in deployment.unread:
        yield f"  not read: {what}"


def _text(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _whole(digests: Mapping[str, str]) -> str:
    return _sha("".join(f"{name} {digest}\n" for name, digest in sorted(digests.items())).encode())


def read_archive(path: Path) -> Archive:
    """Return the archive in a file; one that is not whole, or of another format, is refused."""
    files = _files(path)
    manifest = _manifest(path, files)
    there = {name: _sha(content) for name, content in files.items() if name != _MANIFEST}
    changed = sorted(
        name for name in {*there, *manifest.files} if there.get(name) != manifest.files.get(name)
    )
    if changed or _whole(there) != manifest.digest:
        what = changed[0] if changed else _MANIFEST
        raise ArchiveError(f"{path}: {what} is not as it was written; {_AGAIN}")
    try:
        return Archive(
            manifest=manifest,
            deployment=ArchivedDeployment.model_validate_json(files[_DEPLOYMENT]),
            templates={
                name.removeprefix(_TEMPLATES).removesuffix(".json"): json.loads(content)
                for name, content in files.items()
                if name.startswith(_TEMPLATES)
            },
            assets={
                name.removeprefix(_ASSETS): content
                for name, content in files.items()
                if name.startswith(_ASSETS)
            },
        )
    # RecursionError: lists in lists without end.
    except (KeyError, ValueError, RecursionError) as error:
        raise ArchiveError(
            f"{path}: lacks what format {FORMAT} has ({first_line(error)}); {_AGAIN}"
        ) from None


# Far more than the small files of a deployment; its list of files is read in a second.
_MOST_BYTES = 16 * 1024 * 1024


def _files(path: Path) -> dict[str, bytes]:
    """Return the files of an archive, which may come from anyone."""
    room = Room()
    try:
        content = given_bytes(path, most_bytes=_MOST_BYTES)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            # Before any is read: each unpacks to no more than it says.
            for member in members:
                room.take(size=member.file_size, files=1)
                refuse_member(member.filename, is_plain=is_plain(member))
                if member.flag_bits & _ENCRYPTED:
                    raise MemberError("is encrypted; archives are not encrypted")
            files = {member.filename: archive.read(member) for member in members}
    except OSError as error:
        raise ArchiveError(f"{path}: cannot be read ({error.strerror})") from None
    except MemberError as error:
        raise ArchiveError(f"{path}: {error}; {_AGAIN}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ArchiveError(f"{path}: is not a whole archive ({error}); {_AGAIN}") from None
    if len(files) != len(members):
        raise ArchiveError(f"{path}: holds a file twice; {_AGAIN}")
    return files


def _manifest(path: Path, files: Mapping[str, bytes]) -> Manifest:
    try:
        values = json.loads(files[_MANIFEST])
        number = values["format"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ArchiveError(f"{path}: has no {_MANIFEST} of an archive; {_AGAIN}") from None
    if number != FORMAT:
        raise ArchiveError(
            f"{path}: has format {number}, and this version of the project reads format {FORMAT}; "
            f"{_AGAIN} of this version"
        )
    try:
        return Manifest.model_validate(values)
    except ValidationError as error:
        raise ArchiveError(
            f"{path}: {_MANIFEST} is not valid ({first_line(error)}); {_AGAIN}"
        ) from None


def refuse_other(archive: Archive, *, config: Config, path: Path, source: str) -> None:
    """Refuse a configuration that is not of an archive's deployment."""
    manifest = archive.manifest
    if config.name != manifest.deployment:
        raise ArchiveError(
            f"{path}: name: {config.name!r} is another deployment than that of {source}, "
            f"{manifest.deployment!r}; name the configuration of that one, or archive this one"
        )
    if config.region not in (None, manifest.region):
        raise ArchiveError(
            f"{path}: region: {config.region!r} is not where the deployment of {source} is, "
            f"{manifest.region!r}; name the configuration of that one, or archive this one"
        )
    for named in named_resources(config, *_OF_OWN_ACCOUNT):
        parts = named.value.split(":")
        if len(parts) > _ACCOUNT and parts[_ACCOUNT] != manifest.account:
            raise ArchiveError(
                f"{path}: {'.'.join(map(str, named.path))}: {named.value!r} is of account "
                f"{parts[_ACCOUNT]}, and {source} of {manifest.account}; name the configuration of "
                "that account, or an archive of this one"
            )


_ACCOUNT = 4
