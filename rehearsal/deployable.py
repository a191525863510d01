"""What a stage deploys: the configuration and the lifecycle scripts in force, changed or not."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config, load_config

_SCRIPTS = Path(__file__).resolve().parent.parent / "lifecycle"


@dataclass(kw_only=True, slots=True)
class Deployable:
    """A configuration that can be changed for a while, and its cloud assembly.

    Attributes:
        config_path: File of the configuration to rehearse.
        config: The configuration in force; `change` replaces it.
        work_directory: Gets the cloud assembly, changed configurations and logs.
        current: File of the configuration in force.
        scripts: Folder of the lifecycle scripts in force.
        release: Assembly of a former release in force; None for this version.
    """

    config_path: Path
    config: Config
    work_directory: Path
    current: Path = field(init=False)
    scripts: Path = field(init=False, default=_SCRIPTS)
    release: Path | None = field(init=False, default=None)
    _script_changes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Start with the configuration as it is."""
        self.current = self.config_path

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Put a changed copy of the original configuration in force.

        Raises:
            ConfigError: The change makes it invalid.
        """
        document = yaml.safe_load(self.config_path.read_text(encoding="utf-8"))
        edit(document)
        text = yaml.safe_dump(document, sort_keys=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        path = self.work_directory / f"changed-{digest}.yaml"
        path.write_text(text, encoding="utf-8")
        self.change_to(path)

    def change_to(self, path: Path) -> None:
        """Put another file in force: a configuration of the same name and region."""
        self.release = None
        self.current = path
        self.config = load_config(path)

    def change_scripts(self, edit: Callable[[Path], None]) -> None:
        """Put a changed copy of the lifecycle scripts in force, as if their folder was edited."""
        self._script_changes += 1
        self.scripts = self.work_directory / f"lifecycle-{self._script_changes}"
        shutil.rmtree(self.scripts, ignore_errors=True)  # of a rehearsal before
        shutil.copytree(_SCRIPTS, self.scripts)
        edit(self.scripts)

    def restore(self) -> None:
        """Put the original configuration and lifecycle scripts in force again."""
        self.scripts = _SCRIPTS
        self.change_to(self.config_path)

    @property
    def assembly(self) -> Path:
        """Cloud assembly of what is in force; each change has its own."""
        if self.release is not None:
            return self.release
        changed = f"cdk.out-{self.current.stem}-{self.scripts.name}"
        return self.work_directory / ("cdk.out" if self.is_original else changed)

    @property
    def is_original(self) -> bool:
        """Whether neither the configuration nor the scripts are changed."""
        return (self.current, self.scripts) == (self.config_path, _SCRIPTS)
