"""The folders of scripts that a node gets, as files and settings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

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
class Folder:
    """Files of one local folder.

    Attributes:
        directory: The folder.
        on_create: The script in it that nodes run.
        prefix: What their keys in the bucket begin with, without a slash at its ends.
        settings: What the scripts read of the deployment, by name. Default: nothing.
    """

    directory: Path
    on_create: str
    prefix: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def made(self) -> dict[str, str]:
        """Text of each file that is not in the folder, by its path."""
        return _made_files(self.settings)

    def paths(self) -> list[str]:
        """Return the paths of all files, from the folder.

        Raises:
            ValueError: The entry script is not there, or a file is that is also made.
        """
        keys = script_keys(self.directory)
        if self.on_create not in keys:
            raise ValueError(
                f"{self.directory}: entry script {self.on_create!r} is missing; it has {keys}"
            )
        for key in self.made:
            if key in keys:
                raise ValueError(
                    f"{self.directory}: {key!r} is made from the settings; remove the file"
                )
        return sorted([*keys, *self.made])

    def digest(self) -> str:
        """Return the digest of the files that are in the folder."""
        return content_digest(
            script_keys(self.directory), read=lambda path: (self.directory / path).read_bytes()
        )


def homes(
    project: Folder,
    *,
    own: OwnScriptsConfig | None,
    folders: Sequence[OwnScriptsConfig],
    prefix: str,
) -> list[list[Folder]]:
    """Return the folders that nodes get together, that with the script they run at the front.

    Args:
        project: The scripts that run before the user's.
        own: The user's scripts of every node that has none of `folders`, whose home is the first.
        folders: Those of groups, whose homes follow in this order.
        prefix: What the keys of all begin with.
    """
    return [
        _home(project, own=own, prefix=prefix),
        *(_home(project, own=each, prefix=folder_prefix(each, prefix=prefix)) for each in folders),
    ]


def _home(project: Folder, *, own: OwnScriptsConfig | None, prefix: str) -> list[Folder]:
    project = replace(project, prefix=prefix)
    if own is None or own.directory is None:
        return [project]
    alone = Folder(directory=Path(own.directory), on_create=ENTRY_SCRIPT, prefix=prefix)
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
