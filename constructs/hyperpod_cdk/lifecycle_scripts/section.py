"""The `lifecycle_scripts` section, and folders of scripts of your own."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from hyperpod_cdk.schema.arns import BucketName, KmsKeyArn, PrincipalArn, path_part
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import Message, listed_twice
from hyperpod_cdk.schema.section import Listed, Section, judged, path_mark

ENTRY_SCRIPT = "on_create.sh"
"""The script of a folder that nodes run; it runs the others."""
# Where `lifecycle/*/` finds scripts to run at its end.
OWN = "own"
"""What the keys of scripts that run after others begin with, below those."""
FOLDERS = "folders"
"""What the keys of folders of groups begin with, below the scripts of every node."""

# One invocation of the provisioner puts all of them, in 15 minutes and 1 GiB of memory.
_MOST_FILES = 1_000
_MOST_BYTES = 100 * 1024**2
# Keys are in IAM policies, where * and ? stand for other characters.
_NAME = re.compile(r"[A-Za-z0-9 _.+@=-]+(/[A-Za-z0-9 _.+@=-]+)*")
_TEXT = (".sh", ".bash", ".py")


def _problems(directory: Path) -> Iterator[str]:
    """Find what keeps nodes from running the scripts of a folder."""
    if not directory.is_dir():
        yield f"must be a folder with an {ENTRY_SCRIPT}; {str(directory)!r} is none"
        return
    keys = script_keys(directory)
    if ENTRY_SCRIPT not in keys:
        yield f"has no {ENTRY_SCRIPT}, the script that nodes run; add it"
        return
    if len(keys) > _MOST_FILES:
        yield f"has {len(keys):,} files, more than {_MOST_FILES:,}; let a script download them"
        return
    for name in {OWN, FOLDERS} & {key.partition("/")[0] for key in keys}:
        yield f"has a folder {name}, which the bucket uses for other scripts; rename it"
    for key in keys:
        if (directory / key).is_symlink():
            yield f"has {key}, a symbolic link, which a bucket cannot hold; put the file there"
        if _NAME.fullmatch(key) is None:
            yield f"has {key!r}; rename it: letters, digits, spaces and _.+@=- are allowed"
    size = sum((directory / key).stat().st_size for key in keys)
    if size > _MOST_BYTES:
        limit = _MOST_BYTES // 1024**2
        yield f"has {size:,} bytes, more than {limit} MiB; let a script download what is large"
        return
    if not (directory / ENTRY_SCRIPT).read_bytes().startswith(b"#!"):
        yield (
            f"has an {ENTRY_SCRIPT} whose first line does not say what runs it; begin it with "
            "#!/bin/bash"
        )
    for key in keys:
        content = (directory / key).read_bytes()
        if (key.endswith(_TEXT) or content.startswith(b"#!")) and b"\r\n" in content:
            yield (
                f"has {key} with the line ends of Windows, for which a node says `bad "
                f"interpreter`; convert it with: sed -i 's/\\r$//' {directory / key}"
            )


class OwnScriptsConfig(Section):
    """Scripts of your own."""

    directory: Annotated[str | None, path_mark(_problems)] = None
    """Folder of scripts of your own, which nodes run as root: its on_create.sh, which runs the
    others. Relative to the folder of the configuration file. Default: none."""

    run: Literal["after", "instead"] = "after"
    """after: the project's scripts set the node up, then yours run; a failure of either fails the
    node. instead: yours alone run. Default: after."""

    @property
    def runs_own_scripts_alone(self) -> bool:
        """Whether the project's scripts do not run."""
        return self.directory is not None and self.run == "instead"

    def _findings(self) -> Iterator[Finding]:
        if self.directory is None and self.run != "after":
            message = "has no effect without directory; name the folder of the scripts"
            yield error(("run",), self.run, message)


def folder_name(folder: OwnScriptsConfig) -> str:
    """Return the name of a folder of a group.

    Raises:
        ValueError: It names no folder.
    """
    if folder.directory is None:
        raise ValueError("folders: each needs a directory")
    return Path(folder.directory).name


def folder_prefix(folder: OwnScriptsConfig, *, prefix: str) -> str:
    """Return what the keys of a group's folder begin with, below those of every node's scripts."""
    return joined(prefix, FOLDERS, folder_name(folder))


def joined(*parts: str) -> str:
    """Return a key, or the beginning of one, of parts; empty ones are left out."""
    return "/".join(part for part in parts if part)


def script_keys(directory: Path) -> list[str]:
    """Return the relative paths of the files that are put into the bucket.

    These are all but documents (`.md`) and what is hidden: files and folders whose names start
    with a dot.
    """
    files = (path for path in directory.rglob("*") if path.is_file() and path.suffix != ".md")
    paths = (path.relative_to(directory) for path in files)
    return sorted(
        path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)
    )


# Without the suffixes that S3 keeps for itself, and without dots, which no certificate covers.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_NEW_BUCKET = re.compile(
    r"^(?!.*(-s3alias|--ol-s3|--x-s3|--table-s3)$)sagemaker-[a-z0-9-]{0,52}[a-z0-9]$(?!\n)"
)
# As the API takes an S3 URI, and without what an IAM policy would read as a pattern.
_PART = path_part("A-Za-z0-9!_-")


class LifecycleScriptsConfig(OwnScriptsConfig):
    """The lifecycle scripts, which every new node runs as root."""

    prefix: Annotated[
        str | None,
        Field(
            pattern=rf"^{_PART}(/{_PART})*/?$",
            max_length=256,
        ),
        Message(
            "must be a prefix such as lifecycle-scripts, of letters, digits and !_.- between "
            "slashes, without .."
        ),
        Field(examples=["elsewhere"]),
    ] = None
    """Where in their bucket the scripts are, such as lifecycle-scripts. A change moves them, and an
    update of the HyperPod stack then changes the cluster. Until then, new nodes find no scripts, so
    make the change while no node joins. Default: the top of a bucket that is made,
    `hyperpod/<name>` in existing_bucket_name."""

    bucket_name: Annotated[
        str | None,
        Field(pattern=_NEW_BUCKET),
        Message(
            "must be sagemaker- and up to 53 lower-case letters, digits and inner "
            "hyphens: the managed policy of HyperPod nodes reads no other bucket"
        ),
        Field(examples=["sagemaker-another"]),
    ] = None
    """Name of the bucket that is made for the scripts; it cannot be changed later. Default:
    `sagemaker-<name>-<account>-<region>`."""

    existing_bucket_name: Annotated[BucketName | None, Field(examples=["another-bucket"])] = None
    """Name of a bucket of your own, of this account and region, that gets the scripts instead,
    under their prefix. The bucket itself is not changed; existing objects under the prefix are an
    error, and only versions that the deployment uploaded are removed. It cannot be changed later.
    Default: a bucket is made."""

    existing_bucket_kms_key_arn: KmsKeyArn | None = None
    """ARN of the KMS key that encrypts existing_bucket_name by default: the deployment may encrypt
    the scripts with it, and the nodes decrypt them. Default: none, which is right for a bucket
    encrypted with keys of S3 or of AWS."""

    writers: Annotated[
        Listed[PrincipalArn], judged(partial(listed_twice, message="is listed twice; name it once"))
    ] = ()
    """ARNs of IAM roles and users that may change or delete the scripts in their bucket, if their
    own policies also allow it. The deployment always may. Default: none."""

    @field_validator("prefix")
    @classmethod
    def _without_slash(cls, value: str | None) -> str | None:
        return None if value is None else value.rstrip("/")

    def _findings(self) -> Iterator[Finding]:
        if self.existing_bucket_name is None:
            if self.existing_bucket_kms_key_arn is not None:
                message = "must be left out: it is for existing_bucket_name, which is not set"
                yield error(
                    ("existing_bucket_kms_key_arn",), self.existing_bucket_kms_key_arn, message
                )
            return
        if self.bucket_name is not None:
            message = "must be left out: existing_bucket_name names a bucket that is not made"
            yield error(("bucket_name",), self.bucket_name, message)
        if self.writers:
            message = (
                "must be left out: the policy of existing_bucket_name is yours, and decides who "
                "changes the scripts"
            )
            yield error(("writers",), list(self.writers), message)
