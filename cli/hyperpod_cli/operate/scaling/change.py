"""Another number of nodes in a configuration file: checked, shown, written and taken back."""

import difflib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cli.operate.scaling.instance_count import with_count
from hyperpod_cli.terminal.atomic_file import replace_file
from hyperpod_cli.terminal.errors import OpsError


@dataclass(frozen=True, kw_only=True)
class CountChange:
    """A configuration file, and what becomes of it.

    Attributes:
        path: The file.
        before: Its text.
        after: Its text with the other number.
        former: The number before.
    """

    path: Path
    before: str
    after: str
    former: int

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        name = str(self.path)
        lines = (self.before.splitlines(), self.after.splitlines())
        yield from difflib.unified_diff(*lines, fromfile=name, tofile=name, lineterm="", n=2)

    def write(self) -> None:
        """Change the file.

        Raises:
            OpsError: It was changed meanwhile, or cannot be written.
        """
        self._replace(self.before, self.after)

    def take_back(self) -> None:
        """Restore the file.

        Raises:
            OpsError: It was changed meanwhile, or cannot be written.
        """
        self._replace(self.after, self.before)

    def _replace(self, expected: str, text: str) -> None:
        if _text(self.path) != expected:
            raise OpsError(f"{self.path}: was changed by somebody else meanwhile; run it again")
        try:
            replace_file(self.path, text)
        except OSError as error:
            raise OpsError(f"{self.path}: cannot be written ({error.strerror})") from None


def count_change(path: Path, *, group: str, count: int) -> CountChange:
    """Return what a configuration becomes with another number of nodes in a group.

    Args:
        path: The configuration.
        group: Name of the group.
        count: The number.

    Raises:
        ConfigError: The configuration cannot be used, now or with that number.
        OpsError: There is no such group, or the number is not its own.
    """
    config = load_config(path)
    groups = config.cluster.all_groups
    names = [each.name for each in groups]
    if group not in names:
        raise OpsError(f"{path}: group: {group!r} is not there; it has {', '.join(names)}")
    index = names.index(group)
    text = _text(path)
    former = groups[index].instance_count
    if former == count:
        return CountChange(path=path, before=text, after=text, former=former)
    changed = with_count(text, group=group, index=index, count=count)
    if _counts(_loaded(changed, path)) != {**_counts(config), group: count}:
        raise OpsError(
            f"{path}: instance_count of {group!r} is also that of another group (an anchor); "
            "change it by hand and run `make deploy`"
        )
    return CountChange(path=path, before=text, after=changed, former=former)


def _loaded(text: str, path: Path) -> Config:
    """Return the configuration that a text would be in place of a file."""
    # In the file's folder, because paths in it are relative to that.
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.stem}.", suffix=".yaml", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
        file.flush()
        try:
            return load_config(Path(file.name))
        except ConfigError as error:
            raise ConfigError(
                [line.replace(file.name, str(path)) for line in error.lines]
            ) from None


def _counts(config: Config) -> dict[str, Any]:
    return {group.name: group.instance_count for group in config.cluster.all_groups}


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()
