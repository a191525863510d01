"""The cloud assembly of what is deployed, made of an archive."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import Template
from hyperpod_cli.aws.assembly import stacks_in
from hyperpod_cli.inspect.archive.archive import Archive, ArchiveError
from hyperpod_cli.inspect.archive.deployment import ArchivedStack
from hyperpod_cli.inspect.archive.hiding import hidden
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal.existing_resources.resource import ExistingResource
from hyperpod_rehearsal.existing_resources.roles import principal
from hyperpod_rehearsal.existing_resources.storage import bucket, kms_key
from hyperpod_stacks.table import STACKS, stack_names

# A packed folder is a .zip, and a file, as a packaged chart, keeps its own ending.
_ASSET = re.compile(r"[0-9a-f]{64}\.\w+")
_QUALIFIER = "hnb659fds"
# It is read from a parameter of the account: its value is no template's.
_OF_BOOTSTRAP = "BootstrapVersion"


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchivedVersion:
    """What an archive has, deployed as a release is, before the configuration that follows."""

    archive: Archive
    config: Path
    version: str = "archive"

    def restore(self, assembly: Path, *, like: Path) -> None:
        """Write the cloud assembly of what is deployed, with packages' files of today's assembly.

        Raises:
            ArchiveError: A file is neither in the archive nor here.
        """
        shutil.rmtree(assembly, ignore_errors=True)
        assembly.mkdir(parents=True)
        version = json.loads((like / "manifest.json").read_text("utf-8"))["version"]
        artifacts: dict[str, Any] = {}
        sources = _sources(like)
        here = {stack.name: stack.template["Resources"] for stack in stacks_in(like)}
        templates = {**self.archive.templates}
        # The provisioner compares digests, so that a file of another digest alone would not do.
        for name, logical_id in self.absent(like):
            resources = templates[name]["Resources"]
            asked = {logical_id: here.get(name, {}).get(logical_id, resources[logical_id])}
            templates[name] = {**templates[name], "Resources": {**resources, **asked}}
        names = {stack.name for stack in self.archive.deployment.stacks}
        for stack in self.archive.deployment.stacks:
            template = templates[stack.name]
            _write(assembly / f"{stack.name}.template.json", template)
            files = dict(self._files(stack.name, template, assembly=assembly, sources=sources))
            assets = {"version": version, "files": files, "dockerImages": {}}
            _write(assembly / f"{stack.name}.assets.json", assets)
            artifacts |= self._artifacts(stack, names=names)
        _write(assembly / "manifest.json", {"version": version, "artifacts": artifacts})

    def absent(self, like: Path) -> list[tuple[str, str]]:
        """Return stack and logical ID of custom resources whose files nobody has."""
        known = self.archive.assets.keys() | _sources(like).keys()
        return [
            (stack, logical_id)
            for stack, template in self.archive.templates.items()
            for logical_id, resource in template["Resources"].items()
            if resource["Type"].startswith("Custom::")
            and any(key not in known for _, key in _keys_in(resource.get("Properties", {}), ""))
        ]

    def _artifacts(self, stack: ArchivedStack, *, names: set[str]) -> Iterator[tuple[str, Any]]:
        manifest = self.archive.manifest
        role = f"arn:aws:iam::{manifest.account}:role/cdk-{_QUALIFIER}-{{}}-role-{self._place}"
        before = [name for name in self._needs(stack.name) if name in names]
        yield (
            f"{stack.name}.assets",
            {"type": "cdk:asset-manifest", "properties": {"file": f"{stack.name}.assets.json"}},
        )
        yield (
            stack.name,
            {
                "type": "aws:cloudformation:stack",
                "environment": f"aws://{manifest.account}/{manifest.region}",
                "properties": {
                    "templateFile": f"{stack.name}.template.json",
                    "terminationProtection": stack.is_protected,
                    "validateOnSynth": False,
                    "parameters": {
                        name: value
                        for name, value in stack.parameters.items()
                        if name != _OF_BOOTSTRAP
                    },
                    "tags": {**stack.tags},
                    "assumeRoleArn": role.format("deploy"),
                    "cloudFormationExecutionRoleArn": role.format("cfn-exec"),
                    "stackTemplateAssetObjectUrl": f"s3://{self._bucket}/{stack.name}.json",
                },
                "dependencies": [*before, f"{stack.name}.assets"],
                "displayName": stack.name,
            },
        )

    def _needs(self, name: str) -> Iterator[str]:
        prefix = f"{self.archive.manifest.deployment}-"
        for kind, row in STACKS.items():
            if name == f"{prefix}{kind}" and kind != "platform":
                yield from (f"{prefix}{kind}" for kind in ("platform", *row.follows))

    def _files(
        self,
        stack: str,
        template: Mapping[str, Any],
        *,
        assembly: Path,
        sources: Mapping[str, "_Source"],
    ) -> Iterator[tuple[str, Any]]:
        yield self._file(f"{stack}.json", path=f"{stack}.template.json", packaging="file")
        for place, key in _keys(stack, template):
            path, packaging = f"asset.{key}", "file"
            if key in self.archive.assets:
                (assembly / path).write_bytes(self.archive.assets[key])
            else:
                source = sources.get(key) or sources.get(place)
                if source is None:
                    raise ArchiveError(
                        f"archive: lacks {key}, which {place} of what is deployed takes from S3, "
                        "and this checkout has no other; archive it with credentials that may get "
                        "objects of the bucket of `cdk bootstrap`"
                    )
                packaging = source.packaging
                if not (assembly / path).exists():
                    _link(source.path, assembly / path)
            yield self._file(key, path=path, packaging=packaging)

    def _file(self, key: str, *, path: str, packaging: str) -> tuple[str, Any]:
        manifest = self.archive.manifest
        role = f"role/cdk-{_QUALIFIER}-file-publishing-role-{self._place}"
        return key, {
            "displayName": key,
            "source": {"path": path, "packaging": packaging},
            "destinations": {
                "archive": {
                    "bucketName": self._bucket,
                    "objectKey": key,
                    "region": manifest.region,
                    "assumeRoleArn": f"arn:aws:iam::{manifest.account}:{role}",
                }
            },
        }

    @property
    def _place(self) -> str:
        return f"{self.archive.manifest.account}-{self.archive.manifest.region}"

    @property
    def _bucket(self) -> str:
        return f"cdk-{_QUALIFIER}-assets-{self._place}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    path: Path
    packaging: str


def _sources(assembly: Path) -> dict[str, _Source]:
    """Return the files of an assembly, by their key in S3 and by where templates name them."""
    files: dict[str, _Source] = {}
    for manifest in sorted(assembly.glob("*.assets.json")):
        for file in json.loads(manifest.read_text("utf-8"))["files"].values():
            source = file["source"]
            for destination in file["destinations"].values():
                files[destination["objectKey"]] = _Source(
                    path=assembly / source["path"], packaging=source["packaging"]
                )
    for stack in stacks_in(assembly):
        for place, key in _keys(stack.name, stack.template):
            if key in files:
                files[place] = files[key]
    return files


def _keys(stack: str, template: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the resources of a template take from S3: where it is named, and its key."""
    for logical_id, resource in template.get("Resources", {}).items():
        yield from _keys_in(resource.get("Properties", {}), f"{stack}/{logical_id}")


def _keys_in(node: object, place: str) -> Iterator[tuple[str, str]]:
    match node:
        case str() if _ASSET.fullmatch(node):
            yield place, node
        case Mapping():
            for name, value in node.items():
                yield from _keys_in(value, f"{place}/{name}")
        case list():
            for index, value in enumerate(node):
                yield from _keys_in(value, f"{place}/{index}")


def _link(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def hide_in(assembly: Path) -> None:
    """Leave out of templates what an archive leaves out, so that it counts as unchanged."""
    for stack in stacks_in(assembly):
        template, places = hidden(stack.template)
        if places:
            _write(assembly / f"{stack.name}.template.json", template)


def given_assembly(folder: Path, *, config: Config) -> Path:
    """Return a cloud assembly that was given; raise OpsError if it is not of the configuration."""
    try:
        names = {stack.name for stack in stacks_in(folder)}
    except (OSError, ValueError, KeyError):
        raise OpsError(
            f"--assembly: {folder} is no cloud assembly; name the folder that `hyperpod-cdk "
            "synth` wrote"
        ) from None
    if names != {*stack_names(config).values()}:
        raise OpsError(
            f"--assembly: {folder} has the stacks {', '.join(sorted(names)) or 'of nothing'}, and "
            f"the configuration {', '.join(stack_names(config).values())}; synthesize it again"
        )
    return folder.absolute()


def copied(folder: Path, *, to: Path) -> None:
    """Copy a cloud assembly, whose files may be next to its folder, in place of what is there."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    for path in to.glob("*.assets.json"):
        manifest = json.loads(path.read_text("utf-8"))
        for file in manifest["files"].values():
            source = file["source"]
            source["path"] = os.path.relpath(folder / source["path"], to)
        _write(path, manifest)


_PRINCIPAL = re.compile(r"arn:[\w-]+:iam::\d{12}:(?:role|user)/[\w+=,.@/-]+(?![\w*$])")
_KEY = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+")
_LINKED = re.compile(r'"DataRepositoryPath": "s3://([a-z0-9.-]+)')


def named_in(templates: Iterable[Template]) -> Iterator[ExistingResource]:
    """Yield the roles, users, keys and linked buckets that templates name, each once."""
    text = "\n".join(json.dumps(template) for template in templates)
    for pattern, resource in ((_PRINCIPAL, principal), (_KEY, kms_key), (_LINKED, bucket)):
        yield from map(resource, dict.fromkeys(pattern.findall(text)))
