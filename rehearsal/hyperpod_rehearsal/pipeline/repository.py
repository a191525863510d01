"""The repository that is pushed to, and the clones that builds work in."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.deliver.charts.pins import record_digests
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal import REPOSITORY
from hyperpod_stacks.packaged_chart import OFFICIAL_CHART

# What `make` sets up, by the folder or file that shows that it is done.
_SET_UP = (".venv", "node_modules")
_MARK = ".installed"
_LAYER = Path("build", "kubectl-layer")
_GIT = ("git", "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost")


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A git repository with the project's files as they are now, committed or not.

    The chart stands for the packaged one in clones, which may share this project's own tools.
    """

    path: Path
    chart: Path
    shares_tools: bool

    def create(self) -> None:
        """Make it, in place of what was there."""
        shutil.rmtree(self.path, ignore_errors=True)
        listed = _git(REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            source, target = REPOSITORY / name, self.path / name
            if source.is_file():  # one that is deleted and not committed is listed too
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        _git(self.path, "init", "--quiet", "--initial-branch", "main")
        self._pack_chart()
        # Clones check the package against the pins, and this is what they find.
        record_digests(
            self.path / "charts" / "pins.yaml",
            package=hashlib.sha256(self._archive.read_bytes()).hexdigest(),
            dependencies={},
        )
        self._commit("As it is")

    @property
    def commit(self) -> str:
        """The commit that was pushed last."""
        return _git(self.path, "rev-parse", "HEAD").strip()

    def push(self, config: Path, edit: Callable[[dict[str, Any]], None], *, message: str) -> None:
        """Change a configuration file, by its path from the root of the repository."""
        document = yaml.safe_load((self.path / config).read_text("utf-8"))
        edit(document)
        text = yaml.safe_dump(document, sort_keys=False)
        (self.path / config).write_text(text, encoding="utf-8")
        self._commit(message)

    def revert(self) -> None:
        """Take the last change back."""
        _git(self.path, "reset", "--quiet", "--hard", "HEAD~")

    def clone(self, target: Path) -> None:
        """Clone it, as a build gets it; only what a build downloads for long is there already."""
        _git(self.path.parent, "clone", "--quiet", str(self.path), str(target))
        (target / OFFICIAL_CHART).parent.mkdir(parents=True)
        shutil.copyfile(self._archive, target / OFFICIAL_CHART)
        if self.shares_tools:
            for name in _SET_UP:
                _link_contents(REPOSITORY / name, target / name)
            if (REPOSITORY / _LAYER).is_dir():
                (target / _LAYER).symlink_to(REPOSITORY / _LAYER)

    @property
    def _archive(self) -> Path:
        return self.path.with_name(OFFICIAL_CHART.name)

    def _pack_chart(self) -> None:
        """Pack it once: a package with other times in it would be another chart."""
        if self.chart.is_file():
            shutil.copyfile(self.chart, self._archive)
            return
        with tarfile.open(self._archive, "w:gz") as package:
            package.add(self.chart, arcname=self.chart.name)

    def _commit(self, message: str) -> None:
        _git(self.path, "add", "--all")
        _git(self.path, "commit", "--quiet", "--message", message)


def _link_contents(source: Path, target: Path) -> None:
    """Link what is in a folder, so that what marks it as set up is the clone's own."""
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_file() and entry.name.startswith("."):
            (target / entry.name).touch()
        elif entry.joinpath(_MARK).exists():  # an environment of its own in another one
            _link_contents(entry, target / entry.name)
        else:
            (target / entry.name).symlink_to(entry)


def _git(directory: Path, *arguments: str) -> str:
    # A hook's variables would point git at another repository.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(  # noqa: S603 - our own arguments
        [*_GIT, *arguments],
        cwd=directory,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        reason = " ".join(done.stderr.split())
        raise OpsError(f"git {arguments[0]} in {directory}: {reason}")
    return done.stdout
