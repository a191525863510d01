"""The folders of scripts that a node gets, as files and settings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperpod_cdk.lifecycle_scripts.section import (
    ENTRY_SCRIPT,
    OWN,
    OwnScriptsConfig,
    folder_prefix,
    joined,
    script_keys,
)
from hyperpod_shared.content import content_digest

_SETTINGS_KEY = "deployment.env"
_WHEN_OWN_RUN = "OWN_SCRIPTS"  # as lifecycle/*/settings.sh reads it
# What `lifecycle/*/settings.sh` finds in a line.
_SETTING = re.compile(r"[A-Z][A-Z0-9_]*=[^\n\r]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptFolder:
    """Lifecycle scripts of one local folder.

    Attributes:
        directory: The folder.
        entry: The script in it that nodes run. Default: `on_create.sh`.
        after_ami: Whether it runs once the AMI's own setup is complete, and not instead of that.
            Default: instead, which is all that nodes of EKS have.
        before_own_only: Whether nodes run it only to run scripts of the user's own after it.
            Default: they run it anyway.
        prefix: What their keys in the bucket begin with, without a slash at its ends. Default:
            nothing.
        settings: What the scripts read of the deployment, by name. Default: nothing.
        files: Text of each further file that they read, by its path. Default: none.
    """

    directory: Path
    entry: str = ENTRY_SCRIPT
    after_ami: bool = False
    before_own_only: bool = False
    prefix: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def lifecycle(self) -> dict[str, Any]:
        """The entry script under the name that a `LifecycleConfig` has for when it runs."""
        return {"on_init_complete" if self.after_ami else "on_create": self.entry}

    @property
    def made(self) -> dict[str, str]:
        """Text of each file that is not in the folder, by its path."""
        return {**_made_files(self.settings), **self.files}

    def paths(self) -> list[str]:
        """Return the paths of all files, from the folder.

        Raises:
            ValueError: The entry script is not there, or a file is that is also made.
        """
        keys = script_keys(self.directory)
        if self.entry not in keys:
            raise ValueError(
                f"{self.directory}: entry script {self.entry!r} is missing; it has {keys}"
            )
        for key in self.made:
            if key in keys:
                raise ValueError(
                    f"{self.directory}: {key!r} is made from the configuration; remove the file"
                )
        return sorted([*keys, *self.made])

    def digest(self) -> str:
        """Return the digest of the files that are in the folder."""
        return content_digest(
            script_keys(self.directory), read=lambda path: (self.directory / path).read_bytes()
        )


def homes(
    project: ScriptFolder,
    *,
    own: OwnScriptsConfig | None,
    folders: Sequence[OwnScriptsConfig],
    prefix: str,
) -> list[list[ScriptFolder]]:
    """Return the folders that nodes get together, that with the script they run at the front.

    The first home is that of every node that has none of `folders`: the project's scripts, and
    `own` after or instead of them. It may be empty: its nodes run no script. The homes of
    `folders`, those of groups, follow in this order. The keys of all begin with the prefix.
    """
    return [
        _home(project, own=own, prefix=prefix),
        *(_home(project, own=each, prefix=folder_prefix(each, prefix=prefix)) for each in folders),
    ]


def _home(
    project: ScriptFolder, *, own: OwnScriptsConfig | None, prefix: str
) -> list[ScriptFolder]:
    project = replace(project, prefix=prefix)
    if own is None or own.directory is None:
        return [] if project.before_own_only else [project]
    alone = ScriptFolder(directory=Path(own.directory), prefix=prefix)
    if own.runs_own_scripts_alone:
        return [alone]
    # Without this, the project's scripts run nothing that lies in that folder.
    project = replace(project, settings={**project.settings, _WHEN_OWN_RUN: own.run})
    return [project, replace(alone, prefix=joined(prefix, OWN))]


def _made_files(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file that is not in the directory, by its key."""
    lines = [f"{name}={value}" for name, value in settings.items()]
    for line in lines:
        if _SETTING.fullmatch(line) is None:
            raise ValueError(f"setting {line!r} must be one line, NAME=value")
    return {_SETTINGS_KEY: "".join(f"{line}\n" for line in lines)} if lines else {}
